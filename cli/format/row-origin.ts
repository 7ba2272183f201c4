// Formats where rows come from: a line for each step back, down to the lines of files.
import { formatCount } from '../../daemon/kernel/text/format-count.ts'
import type { offline } from '../../daemon/offline/offline.ts'
import type { RegistryEntityOrigin, RegistryRecordOrigin } from '../client/trace-registry-entity.ts'

type FindRowOrigins = Awaited<ReturnType<typeof offline.rowOrigins>>['findRowOrigins']
type RowTrace = Awaited<ReturnType<FindRowOrigins>>['rows'][number]
type InputTrace = RowTrace['inputs'][number]
type TraceEntity = Awaited<ReturnType<typeof offline.entityOrigin>>['traceEntity']
type EntityTrace = Awaited<ReturnType<TraceEntity>>

const remarks: Readonly<Record<RowTrace['made_of'], string>> = {
  one: '',
  many: ', which is made of many rows',
  unknown: ', of an earlier release, which kept no lines',
}

export function formatRowOrigin(origin: RowTrace, depth = 0): string[] {
  const { row, dataset, folder, made_of, inputs } = origin
  const named = `${row === undefined ? 'rows' : `row ${row}`} of ${dataset ?? folder}${remarks[made_of]}`
  return [indent(named, depth), ...inputs.flatMap((input) => formatInput(input, depth + 1))]
}

function formatInput({ kind, name, sha256, read_as, place, unit, origin }: InputTrace, depth: number): string[] {
  if (origin) return formatRowOrigin(origin, depth)
  const where = place === undefined ? 'rows' : `${unit} ${place}`
  const named = {
    file: `${formatPart(read_as)}${name}`,
    source: `the source ${name.replace(/\.jsonl$/, '')}, as it gave them`,
    dataset: `the dataset ${name}, which is not there`,
  }[kind]
  return [indent(`${where} of ${named}, SHA-256 ${sha256}`, depth)]
}

/** The part of a file that was read: a place in another one is another row. */
function formatPart({
  sheet,
  pointer = '',
}: Partial<Pick<EntityTrace['records'][number], 'sheet' | 'pointer'>>): string {
  if (sheet !== undefined) return `${JSON.stringify(sheet)} of `
  return pointer === '' ? '' : `${JSON.stringify(pointer)} of `
}

export function formatEntityOrigin({ entity, cluster, records, left_out }: EntityTrace): string[] {
  const named = entity === undefined ? `cluster ${cluster}` : `entity ${entity}, cluster ${cluster}`
  const count = formatCount(records.length + (left_out ?? 0), 'record', 'records')
  return [
    `${named}: ${count}`,
    ...records.flatMap(({ source, id, file, sha256, place, unit, origin, ...part }) => [
      indent(`${source}:${id}`, 1),
      ...(origin
        ? formatRowOrigin(origin, 2)
        : [indent(`${unit} ${place} of ${formatPart(part)}${file}, SHA-256 ${sha256}`, 2)]),
    ]),
    ...(left_out === undefined ? [] : [indent(`and ${formatCount(left_out, 'record', 'records')} more`, 1)]),
  ]
}

export function formatRegistryEntityOrigin({ entity, records, left_out }: RegistryEntityOrigin): string[] {
  const count = formatCount(records.length + (left_out ?? 0), 'record', 'records')
  return [
    `entity ${entity}: ${count}`,
    ...records.flatMap((record) => [
      indent(`${record.source}:${record.id}`, 1),
      indent(describeSource(record), 2),
      ...(record.origin ? formatRowOrigin(record.origin, 3) : []),
    ]),
    ...(left_out === undefined ? [] : [indent(`and ${formatCount(left_out, 'record', 'records')} more`, 1)]),
  ]
}

function describeSource({ came_by, run_id, arrived_at, file, dataset, origin }: RegistryRecordOrigin): string {
  if (arrived_at !== undefined) return `arrived on its own at ${arrived_at}`
  if (came_by === 'file') return `the data file ${file ?? ''}, read by the run ${run_id}, which kept no digest of it`
  if (came_by === 'request') return `in the request of the run ${run_id}`
  if (!dataset) return `not of a source of the run ${run_id}`
  const { dag_id, dag_run_id, task, name, digest } = dataset
  const made_by = `task ${task} of the run ${dag_run_id} of ${dag_id}`
  if (origin) return made_by
  const fault = {
    found: 'which has no row with this ID',
    gone: 'which is not there any more',
    replaced: 'which another one has replaced',
    unreadable: 'whose run is not there any more, or not for you',
  }[dataset.state]
  return `${made_by}: the dataset ${name}, SHA-256 ${digest}, ${fault}`
}

function indent(text: string, depth: number): string {
  return '  '.repeat(depth) + text
}
