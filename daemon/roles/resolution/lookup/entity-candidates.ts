// Finds the entities that a record may belong to: candidates by its keys, then each entity scored over all its records.
import { compareRecord, type RecordComparison } from '../engine/lookup/compare.ts'
import type { FieldValues } from '../engine/lookup/keys.ts'
import type { RecordRef } from '../fields.ts'
import type { LookupEntity, LookupRecord, LookupRegistry } from './lookup-registry.ts'

const max_candidates = 200
/** Records of one entity that are compared; the first ones in order. */
const max_members = 100

export type ComparedRecord = { readonly record: LookupRecord; readonly comparison: RecordComparison }

export type EntityCandidate = {
  readonly entity: LookupEntity
  /** Its record that is most alike. */
  readonly best: ComparedRecord
  /** In natural logs: what decides, which is the mean over its records where the lens joins by average link. */
  readonly score: number
  readonly isAbove: boolean
}

export type LookupQuery = {
  readonly values: FieldValues
  /** The record itself, if the registry may contain it: it is not a candidate for itself. */
  readonly ref?: RecordRef | undefined
  readonly limit: number
}

type RecordComparer = (others: readonly FieldValues[]) => RecordComparison[]

/**
 * Best first. Each candidate of the index is read again, so that the caller sees only what it may see now, and each
 * record counts for its current entity.
 */
export async function findEntityCandidates(
  registry: LookupRegistry,
  { values, ref, limit }: LookupQuery,
): Promise<EntityCandidate[]> {
  const { index, lens, weights } = registry
  const self = ref && registry.uidOf(ref)
  const near = index.findCandidates(values, max_candidates).filter(({ uid }) => uid !== self)
  const compare: RecordComparer = (others) => compareRecord(lens, weights, index, values, others)
  const scores = compare(near.map((each) => each.values))
  const ranked = near.map(({ uid }, at) => ({ uid, score: scores[at]?.score ?? 0 }))
  ranked.sort((one, other) => other.score - one.score || (one.uid < other.uid ? -1 : 1))
  const entities = await loadEntities(registry, ranked, limit)
  const found = await Promise.all(entities.map((entity) => scoreEntity(registry, entity, ref, compare)))
  const candidates = found.flatMap((each) => each ?? [])
  return candidates.sort((one, other) => other.score - one.score || (one.entity.id < other.entity.id ? -1 : 1))
}

/** The first entities that the caller may see, in the order of their best records. */
async function loadEntities(
  registry: LookupRegistry,
  ranked: readonly { readonly uid: string }[],
  limit: number,
): Promise<LookupEntity[]> {
  const found = new Map<string, LookupEntity>()
  for (const { uid } of ranked) {
    if (found.size === limit) break
    const id = (await registry.record(uid))?.entity
    const entity = id === undefined || found.has(id) ? undefined : await registry.entity(id)
    if (entity) found.set(entity.id, entity)
  }
  return [...found.values()]
}

async function scoreEntity(
  registry: LookupRegistry,
  entity: LookupEntity,
  ref: RecordRef | undefined,
  compare: RecordComparer,
): Promise<EntityCandidate | undefined> {
  const uids = entity.members.filter(createMemberFilter(registry, ref)).map(registry.uidOf)
  const read = await Promise.all(uids.slice(0, max_members).map(registry.record))
  const records = read.flatMap((record) => record ?? [])
  const compared = compare(records.map(({ values }) => values))
  let best: ComparedRecord | undefined
  for (const [at, record] of records.entries()) {
    const each = compared[at]
    if (each && (!best || each.score > best.comparison.score)) best = { record, comparison: each }
  }
  if (!best) return undefined
  const score = aggregateScore(registry, best.comparison.score, compared)
  return { entity, best, score, isAbove: score >= registry.weights.cut }
}

/** As clusters come about: the mean of bounded scores by average link, the best pair by every other method. */
function aggregateScore(
  { lens, run, weights }: LookupRegistry,
  best: number,
  compared: readonly RecordComparison[],
): number {
  const isMean = run.route !== 'links' && (lens.clustering ?? 'average_link') === 'average_link'
  if (!isMean || compared.length === 1) return best
  const bounded = compared.map(({ score }) => Math.max(weights.floor, Math.min(weights.highest, score)))
  return bounded.reduce((sum, each) => sum + each, 0) / bounded.length
}

/** Not the record itself, and where records of one source are never compared, none of the same node. */
function createMemberFilter({ lens }: LookupRegistry, ref: RecordRef | undefined): (member: RecordRef) => boolean {
  if (!ref) return () => true
  if (lens.link_only) return ({ node_id }) => node_id !== ref.node_id
  return ({ node_id, record_id }) => node_id !== ref.node_id || record_id !== ref.record_id
}
