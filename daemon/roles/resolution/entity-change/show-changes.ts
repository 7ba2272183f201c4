// Shows changes of entities to a caller: without what it may not see, be it entities, records, runs or decisions.
import type { Call } from '../../../kernel/operation/call.ts'
import { entityClusters } from '../entity-cluster/model.ts'
import { entityMatches } from '../entity-match/model.ts'
import { entityRecords, recordUid } from '../entity-record/model.ts'
import { fusionRuns } from '../fusion-run/model.ts'
import type { EntityChange, EntityChangeCause, StoredEntityChange } from './model.ts'

/** References that are looked up for one answer; a change beyond them is for the next page. */
const max_looked_up = 2_000

/** The number of changes from the first on for one answer: one, or as many as name few enough references. */
export function countChangesOfPage(stored: readonly StoredEntityChange[]): number {
  let named = 0
  for (const [at, { change }] of stored.entries()) {
    const { left = [], from = [], into = [] } = change
    named += left.length + from.length + into.length
    if (at > 0 && named > max_looked_up) return at
  }
  return stored.length
}

/** The entities, records, matches and runs named by changes that the caller may see. */
type VisibleReferences = Readonly<Record<'entities' | 'records' | 'matches' | 'runs', ReadonlySet<string>>>

/** Entities and records that were deleted or forgotten keep their documents, and so their labels. */
export async function showChanges(call: Call, stored: readonly StoredEntityChange[]): Promise<EntityChange[]> {
  // A record that joined is covered by the label of the change; one that left no longer is.
  const leftUids: string[][] = []
  for (const { tenant_id, lens, change } of stored) {
    call.signal.throwIfAborted()
    leftUids.push((change.left ?? []).map((ref) => recordUid(tenant_id, lens, ref)))
    await call.pause()
  }
  const changes = stored.map(({ change }) => change)
  const list = (of: (change: (typeof changes)[number]) => readonly (string | undefined)[]) => [
    ...new Set(changes.flatMap(of).filter((id) => id !== undefined)),
  ]
  const visible: VisibleReferences = {
    entities: await findVisible(
      call,
      list(({ from = [], into = [] }) => [...from, ...into]),
      (id) => call.store(entityClusters).find(id),
    ),
    records: await findVisible(call, [...new Set(leftUids.flat())], (id) => call.store(entityRecords).find(id)),
    matches: await findVisible(
      call,
      list(({ cause }) => [cause.match]),
      (id) => call.store(entityMatches).find(id),
    ),
    runs: await findVisible(
      call,
      list(({ cause }) => [cause.run_id]),
      (id) => call.store(fusionRuns).find(id),
    ),
  }
  return stored.map((each, at) => showChange(each, leftUids[at] ?? [], visible))
}

function showChange(
  { change, label: classification }: StoredEntityChange,
  leftUids: readonly string[],
  { entities, records, ...ofCause }: VisibleReferences,
): EntityChange {
  const { left, from, into, unlisted, cause, ...rest } = change
  const seen = left?.filter((_, at) => records.has(leftUids[at] ?? ''))
  // Beside fewer records than are listed, their number would count hidden ones.
  const unlistedField = unlisted === undefined || seen?.length !== left?.length ? {} : { unlisted }
  return {
    ...{ ...rest, classification, ...unlistedField, cause: showCause(cause, ofCause) },
    ...listField('left', seen),
    ...listField(
      'from',
      from?.filter((id) => entities.has(id)),
    ),
    ...listField(
      'into',
      into?.filter((id) => entities.has(id)),
    ),
  }
}

/** The decision of a match that the caller may not see is not named, nor the person who made it. */
function showCause(
  { kind, run_id, match, by }: EntityChangeCause,
  { matches, runs }: Pick<VisibleReferences, 'matches' | 'runs'>,
): EntityChangeCause {
  const isMatchSeen = match === undefined || matches.has(match)
  return {
    kind,
    ...(run_id !== undefined && runs.has(run_id) ? { run_id } : {}),
    ...(match !== undefined && isMatchSeen ? { match } : {}),
    ...(by !== undefined && isMatchSeen ? { by } : {}),
  }
}

function listField<Name extends string, T>(name: Name, list: T[] | undefined): Partial<Record<Name, T[]>> {
  return list && list.length > 0 ? ({ [name]: list } as Record<Name, T[]>) : {}
}

/** Requests at a time. */
const max_concurrent_reads = 64

async function findVisible(
  call: Call,
  ids: readonly string[],
  find: (id: string) => Promise<unknown>,
): Promise<Set<string>> {
  const visible = new Set<string>()
  for (let at = 0; at < ids.length; at += max_concurrent_reads) {
    call.signal.throwIfAborted()
    await Promise.all(
      ids.slice(at, at + max_concurrent_reads).map(async (id) => {
        if (await find(id)) visible.add(id)
      }),
    )
  }
  return visible
}
