// Finds the entities that a record may belong to: candidates by shared keys, each then scored over all its records.
import { compareRecord, hasEvidence, type RecordComparison } from '../engine/lookup/compare.ts'
import type { FieldValues } from '../engine/lookup/keys.ts'
import type { RecordRef } from '../fields.ts'
import type { LookupEntity, LookupRecord, SearchableRegistry } from './lookup-registry.ts'

const max_candidates = 200
/** Limit of compared records of one entity; the first ones in order are compared. */
const max_members = 100
/** Records of one query. */
const max_queried = 20

export type ComparedRecord = {
  readonly record: LookupRecord & { readonly values: FieldValues }
  readonly comparison: RecordComparison
}

export type EntityCandidate = {
  readonly entity: LookupEntity
  /** The most similar record of the entity. */
  readonly best: ComparedRecord
  /** The deciding score, in natural logs; with average link, the mean over the records of the entity. */
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
 * Finds candidates, best first. Each candidate of the index is read again, so that the caller sees only documents that
 * it may see now, and each record counts for its current entity.
 */
export async function findEntityCandidates(
  registry: SearchableRegistry,
  { values, ref, limit }: LookupQuery,
): Promise<EntityCandidate[]> {
  const { index, lens, weights } = registry
  const self = ref && registry.uidOf(ref)
  const near = index.findCandidates(values, max_candidates).filter(({ uid }) => uid !== self)
  const compare: RecordComparer = (others) => compareRecord(lens, weights, index, values, others)
  const scores = compare(near.map((record) => record.values))
  const ranked = near.map(({ uid }, at) => ({ uid, score: scores[at]?.score ?? 0 }))
  ranked.sort((a, b) => b.score - a.score || (a.uid < b.uid ? -1 : 1))
  await registry.pause()
  const members = await loadMembers(registry, await loadEntities(registry, ranked, limit), ref)
  const candidates: EntityCandidate[] = []
  for (const { entity, records } of members) {
    const candidate = scoreEntity(registry, entity, records, compare)
    if (candidate) candidates.push(candidate)
    await registry.pause()
  }
  return candidates.sort((a, b) => b.score - a.score || (a.entity.id < b.entity.id ? -1 : 1))
}

/** Loads the first entities that the caller may see, in the order of their best records. */
async function loadEntities(
  registry: SearchableRegistry,
  ranked: readonly { readonly uid: string }[],
  limit: number,
): Promise<LookupEntity[]> {
  const entities = new Map<string, LookupEntity>()
  for (let at = 0; at < ranked.length && entities.size < limit; at += max_queried) {
    const found = await registry.entitiesOf(ranked.slice(at, at + max_queried).map(({ uid }) => uid))
    for (const entity of found) if (entity && entities.size < limit) entities.set(entity.id, entity)
  }
  return [...entities.values()]
}

type EntityMembers = { readonly entity: LookupEntity; readonly records: readonly ComparedRecord['record'][] }

/** Loads the members of all entities that the caller may see. A record that the index lacks was written after the lookup began. */
async function loadMembers(
  registry: SearchableRegistry,
  entities: readonly LookupEntity[],
  ref: RecordRef | undefined,
): Promise<EntityMembers[]> {
  const isMember = createMemberFilter(registry, ref)
  const uids = entities.map(({ members }) => members.filter(isMember).slice(0, max_members).map(registry.uidOf))
  const all = uids.flat()
  const visible = new Map<string, LookupRecord>()
  for (let at = 0; at < all.length; at += max_queried) {
    const queried = all.slice(at, at + max_queried)
    for (const [place, record] of (await registry.visibleRecords(queried)).entries())
      if (record) visible.set(queried[place] ?? '', record)
  }
  return entities.map((entity, at) => ({
    entity,
    records: (uids[at] ?? []).flatMap((uid) => {
      const [record, values] = [visible.get(uid), registry.index.valuesOf(uid)]
      return record && values ? [{ ...record, values }] : []
    }),
  }))
}

function scoreEntity(
  registry: SearchableRegistry,
  entity: LookupEntity,
  records: EntityMembers['records'],
  compare: RecordComparer,
): EntityCandidate | undefined {
  const comparisons = compare(records.map(({ values }) => values))
  let best: ComparedRecord | undefined
  for (const [at, record] of records.entries()) {
    const comparison = comparisons[at]
    if (comparison && (!best || comparison.score > best.comparison.score)) best = { record, comparison }
  }
  if (!best) return undefined
  const score = aggregateScore(registry, best.comparison.score, comparisons)
  const isAbove = score >= registry.weights.cut && hasEvidence(registry.lens, best.comparison)
  return { entity, best, score, isAbove }
}

/**
 * Scores an entity as clustering does: the mean of bounded scores for average link, the best pair for other methods.
 */
function aggregateScore(
  { lens, route, weights }: SearchableRegistry,
  best: number,
  comparisons: readonly RecordComparison[],
): number {
  const isMean = route !== 'links' && (lens.clustering ?? 'average_link') === 'average_link'
  if (!isMean || comparisons.length === 1) return best
  const bounded = comparisons.map((comparison) => {
    if (!hasEvidence(lens, comparison)) return weights.floor
    return Math.max(weights.floor, Math.min(weights.highest, comparison.score))
  })
  return bounded.reduce((sum, score) => sum + score, 0) / bounded.length
}

/** Creates a filter that excludes the record itself and, with `link_only`, all records of its node. */
function createMemberFilter({ lens }: SearchableRegistry, ref: RecordRef | undefined): (member: RecordRef) => boolean {
  if (!ref) return () => true
  if (lens.link_only) return ({ node_id }) => node_id !== ref.node_id
  return ({ node_id, record_id }) => node_id !== ref.node_id || record_id !== ref.record_id
}
