// Describes what a write changed of an entity, and orders changes in the log of a tenant; pure.
import type { StoredCluster } from '../entity-cluster/model.ts'
import type { RecordRef } from '../fields.ts'
import { recordKey } from '../registry/record-key.ts'
import type { EntityChangeCause, EntityChangeLog, EntityChangeReference, UnloggedEntityChange } from './model.ts'

const day_ms = 86_400_000

/** A merge or a run may move more records than a reader of the log wants to see. */
const max_listed_records = 500

export type EntityChangeContext = {
  readonly at: string
  readonly cause: EntityChangeCause
  /** Keys of the records that came with the entities that were merged into this one. */
  readonly carried?: ReadonlySet<string>
  /** Entities that were split off. */
  readonly parts?: readonly string[]
}

/** The entity to store, with its changes for the log; the same value if nothing changed that a reader of the log sees. */
export function recordEntityChange(
  before: StoredCluster | undefined,
  after: StoredCluster,
  context: EntityChangeContext,
): StoredCluster {
  const { unlogged_changes = [], changes = 0 } = before ?? {}
  const fresh = describeChanges(before, after, context).map(
    (change, at): UnloggedEntityChange => ({
      ...{ revision: changes + at + 1, at: context.at, size: after.size },
      ...{ ...change, cause: context.cause, label: after.label },
    }),
  )
  if (fresh.length === 0) return after
  return { ...after, changes: changes + fresh.length, unlogged_changes: [...unlogged_changes, ...fresh], unlogged: 1 }
}

type ChangeDescription = Omit<UnloggedEntityChange, 'revision' | 'at' | 'size' | 'cause' | 'label'>

function describeChanges(
  before: StoredCluster | undefined,
  after: StoredCluster,
  { carried = new Set(), parts = [] }: EntityChangeContext,
): ChangeDescription[] {
  const { lineage, members } = after
  const origin = lineage.split_from === undefined ? [] : [lineage.split_from]
  const merged = lineage.merged_from.filter((id) => !before?.lineage.merged_from.includes(id))
  const isLive = before?.state === 'live'
  if (after.state === 'deleted') return before?.state === 'deleted' ? [] : [build('deleted', { left: before?.members })]
  if (after.state === 'merged') return isLive ? [build('merged', { into: lineage.merged_into })] : []
  const came = listMissing(members, before?.members).filter((ref) => !carried.has(recordKey(ref)))
  if (!before) return [build('created', { joined: came, from: [...origin, ...merged] })]
  if (!isLive) return [build('restored', { joined: members, from: [...origin, ...merged] })]
  const went = listMissing(before.members, members)
  const hasCome = came.length > 0 || merged.length > 0
  return [
    ...(parts.length > 0 && went.length > 0 ? [build('split', { left: went, into: parts })] : []),
    ...(parts.length === 0 && went.length > 0 ? [build('left', { left: went })] : []),
    ...(hasCome ? [build('joined', { joined: came, from: merged })] : []),
  ]
}

function listMissing(refs: readonly RecordRef[], among: readonly RecordRef[] = []): RecordRef[] {
  const keys = new Set(among.map(recordKey))
  return refs.filter((ref) => !keys.has(recordKey(ref)))
}

type ChangeLists = {
  readonly joined?: readonly RecordRef[] | undefined
  readonly left?: readonly RecordRef[] | undefined
  readonly from?: readonly string[] | undefined
  readonly into?: readonly string[] | undefined
}

/** Leaves empty lists out, and counts what is beyond the limit. */
function build(change: ChangeDescription['change'], { joined = [], left = [], from = [], into = [] }: ChangeLists) {
  const unlisted = [joined, left].reduce((sum, list) => sum + Math.max(0, list.length - max_listed_records), 0)
  return {
    change,
    ...(joined.length > 0 ? { joined: joined.slice(0, max_listed_records) } : {}),
    ...(left.length > 0 ? { left: left.slice(0, max_listed_records) } : {}),
    ...(unlisted > 0 ? { unlisted } : {}),
    ...(from.length > 0 ? { from: [...from] } : {}),
    ...(into.length > 0 ? { into: [...into] } : {}),
  }
}

/** The fields of a stored entity that only the log reads. */
export function pickLogFields({ changes, unlogged_changes, unlogged, log_writes }: StoredCluster) {
  return {
    ...(changes === undefined ? {} : { changes }),
    ...(unlogged_changes === undefined ? {} : { unlogged_changes }),
    ...(unlogged === undefined ? {} : { unlogged }),
    ...(log_writes === undefined ? {} : { log_writes }),
  }
}

/** Removes changes that are in the log, as a write that callers do not see; returns the same value if there are none of them. */
export function removeLoggedChanges(entity: StoredCluster, logged: ReadonlySet<number>): StoredCluster {
  const { unlogged_changes = [], unlogged, log_writes = 0, ...rest } = entity
  const remaining = unlogged_changes.filter(({ revision }) => !logged.has(revision))
  if (remaining.length === unlogged_changes.length) return entity
  const counted = { ...rest, log_writes: log_writes + 1 }
  return remaining.length > 0 ? { ...counted, unlogged, unlogged_changes: remaining } : counted
}

/** Positions in a batch: by time, then entity; those of one entity by revision, also if the clock was set back. */
export function assignPlaces(
  batch: number,
  changes: readonly { readonly entity: string; readonly at: string; readonly revision: number }[],
): EntityChangeReference[] {
  const latest = new Map<string, string>()
  return changes.map(({ entity, at, revision }) => {
    const earlier = latest.get(entity) ?? ''
    const time = at > earlier ? at : earlier
    latest.set(entity, time)
    const place = `${batchStart(batch)}${time}.${entity}.${String(revision).padStart(9, '0')}`
    return { entity, revision, place }
  })
}

/** The lower bound of the positions of a batch, above those of earlier batches. */
export function batchStart(batch: number): string {
  return `${String(batch).padStart(15, '0')}.`
}

/**
 * A position that a reader may take without a change before it, as `now_ms` decides alone: hidden changes must not show in it. Below it
 * everything is copied, and nothing is numbered any more, if no clock of a writer is a day late.
 */
export function quietPosition(log: Pick<EntityChangeLog, 'batch' | 'pending'> | undefined, now_ms: number): string {
  const end = Math.max(0, now_ms - day_ms)
  return batchStart(log && log.pending.length > 0 ? Math.min(end, log.batch) : end)
}

/** The batch of a position: the time in epoch milliseconds at which it was numbered, or later. */
export function batchOf(place: string): number {
  return Number.parseInt(place, 10)
}

export function entityChangeId(entity: string, revision: number): string {
  return `${entity}:${revision}`
}

/** How long changes of the log are kept once its next batch is numbered under `days`. */
export function nextRetention(
  { batch, days: before, fewer }: Pick<EntityChangeLog, 'batch' | 'days' | 'fewer'>,
  days: number,
): Pick<EntityChangeLog, 'days' | 'fewer'> {
  if (before === undefined || before >= days) return { days, ...(fewer ? { fewer } : {}) }
  return { days, fewer: { batch, days: Math.min(before, fewer?.days ?? before) } }
}

/** Days for which all changes after a position in this batch are kept at least. `change_days`: the setting of now. */
export function retainedDays(
  { days, fewer }: Pick<EntityChangeLog, 'days' | 'fewer'>,
  batch: number,
  change_days: number,
): number {
  const earlier = fewer && batch <= fewer.batch ? fewer.days : change_days
  return Math.min(change_days, days ?? change_days, earlier)
}
