// Finds a source that a registry has under another name: the entities of a renamed file would get new ids.
import type { LensRecords } from '../../../roles/resolution/engine/records/records.ts'
import { OfflineCommandError } from '../../offline-command-error.ts'
import { createNormalReader, type ValueReader } from '../folder/original-values.ts'
import type { RecordReading } from '../lens-records.ts'
import type { EntityRegistry } from './entity-registry.ts'
import { buildMemberKey } from './registry-content.ts'

/** Least share of the smaller of two sources that both have, by which they are one. */
const min_common_share = 0.5
/** Without values, ids alone must agree: two tables may both count from 1. */
const min_common_ids_share = 0.9

/**
 * Refuses a source that the registry does not have while most of its records are there, with equal values, under the name of a
 * source that the data lacks. Where the registry has ids alone, remarks it. A source that a person named is taken as it is.
 * Throws `OfflineCommandError` (3).
 */
export function checkSourceNames(
  registry: Pick<EntityRegistry, 'entities' | 'content'>,
  records: LensRecords & { readonly origins: readonly { readonly file: string }[] },
  { sources, onRemark }: Pick<RecordReading, 'sources' | 'onRemark'>,
): void {
  const idsOf = collectIds(registry)
  const read = createNormalReader(records)
  const absent = [...idsOf.keys()].filter((source) => !records.names.includes(source))
  if (absent.length === 0) return
  for (const [at, name] of records.names.entries()) {
    const file = records.origins[at]?.file ?? name
    if (idsOf.has(name) || sources?.has(file)) continue
    const rows = listRows(records, at)
    for (const other of absent) {
      const ids = idsOf.get(other) ?? new Set()
      const shared = rows.filter((row) => ids.has(records.idOf(row)))
      const share = shared.length / Math.max(1, Math.min(rows.length, ids.size))
      const equal =
        registry.content && shared.filter((row) => hasEqualValues(registry, records, read, row, other)).length
      const remedy = `--source ${formatSource(other, file, records.names.length)} keeps its entities`
      const common = `of the ${rows.length} records of ${name}, the registry has ${equal ?? shared.length}`
      if (equal !== undefined && equal >= Math.max(1, min_common_share * Math.min(rows.length, ids.size)))
        throw new OfflineCommandError(
          3,
          `${common} as those of ${other}, with the same ids and values: their entities would get new ids`,
          `${remedy}; --source ${formatSource(name, file, records.names.length)} takes it as another source`,
        )
      if (equal === undefined && share >= min_common_ids_share)
        onRemark?.(`${common} ids under ${other}: if it is the same table under another name, ${remedy}`)
    }
  }
}

function collectIds({ entities }: Pick<EntityRegistry, 'entities'>): Map<string, Set<string>> {
  const idsOf = new Map<string, Set<string>>()
  for (const { members } of entities)
    for (const [source, id] of members) {
      const ids = idsOf.get(source)
      if (ids) ids.add(id)
      else idsOf.set(source, new Set([id]))
    }
  return idsOf
}

function listRows({ sources, rows }: LensRecords, source: number): number[] {
  const found: number[] = []
  for (let row = 0; row < rows; row++) if (sources[row] === source) found.push(row)
  return found
}

function hasEqualValues(
  { content }: Pick<EntityRegistry, 'content'>,
  records: LensRecords,
  read: ValueReader,
  row: number,
  source: string,
): boolean {
  const before = content?.records.get(buildMemberKey([source, records.idOf(row)]))?.values ?? {}
  return records.fields.every(({ name }, field) => (read(row, field) ?? '') === (before[name] ?? ''))
}

/** With the file where there are several. */
function formatSource(name: string, file: string, count: number): string {
  return count === 1 ? name : `${name}=${file}`
}
