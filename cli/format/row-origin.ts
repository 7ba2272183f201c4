// Formats where rows come from: a line for each step back, down to the lines of files.
import { formatCount } from '../../daemon/kernel/text/format-count.ts'
import type { offline } from '../../daemon/offline/offline.ts'

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

function indent(text: string, depth: number): string {
  return '  '.repeat(depth) + text
}
