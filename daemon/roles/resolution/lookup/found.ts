// The entities that a record may belong to: candidates by its keys, then each entity by all its records.
import { type Compared, comparedWith } from '../engine/lookup/compare.ts'
import type { Values } from '../engine/lookup/keys.ts'
import type { RecordRef } from '../fields.ts'
import type { Known, KnownEntity, KnownRecord } from './known.ts'

const most_candidates = 200
/** Records of one entity that are compared; the first ones in order. */
const most_members = 100

export type Beside = { readonly record: KnownRecord; readonly compared: Compared }

export type FoundEntity = {
  readonly entity: KnownEntity
  /** Its record that is most alike. */
  readonly best: Beside
  /** In natural logs: what decides, which is the mean over its records where the lens joins by average link. */
  readonly score: number
  readonly isAbove: boolean
}

export type Wanted = {
  readonly values: Values
  /** The record itself, if the registry may have it: it is no candidate for itself. */
  readonly ref?: RecordRef | undefined
  readonly limit: number
}

type Compare = (others: readonly Values[]) => Compared[]

/**
 * The best first. What the index names is asked for again, so that nothing is told which the caller may not know of now, and each
 * record counts for the entity that it is now.
 */
export async function entitiesFor(known: Known, { values, ref, limit }: Wanted): Promise<FoundEntity[]> {
  const { index, lens, weights } = known
  const self = ref && known.uidOf(ref)
  const near = index.near(values, most_candidates).filter(({ uid }) => uid !== self)
  const compare: Compare = (others) => comparedWith(lens, weights, index, values, others)
  const scores = compare(near.map((each) => each.values))
  const ranked = near.map(({ uid }, at) => ({ uid, score: scores[at]?.score ?? 0 }))
  ranked.sort((one, other) => other.score - one.score || (one.uid < other.uid ? -1 : 1))
  const entities = await entitiesOf(known, ranked, limit)
  const found = await Promise.all(entities.map((entity) => besides(known, entity, ref, compare)))
  const mayBe = found.flatMap((each) => each ?? [])
  return mayBe.sort((one, other) => other.score - one.score || (one.entity.id < other.entity.id ? -1 : 1))
}

/** The first entities that the caller may see, in the order of their best records. */
async function entitiesOf(
  known: Known,
  ranked: readonly { readonly uid: string }[],
  limit: number,
): Promise<KnownEntity[]> {
  const found = new Map<string, KnownEntity>()
  for (const { uid } of ranked) {
    if (found.size === limit) break
    const id = (await known.record(uid))?.entity
    const entity = id === undefined || found.has(id) ? undefined : await known.entity(id)
    if (entity) found.set(entity.id, entity)
  }
  return [...found.values()]
}

async function besides(
  known: Known,
  entity: KnownEntity,
  ref: RecordRef | undefined,
  compare: Compare,
): Promise<FoundEntity | undefined> {
  const uids = entity.members.filter(isOther(known, ref)).map(known.uidOf)
  const read = await Promise.all(uids.slice(0, most_members).map(known.record))
  const records = read.flatMap((record) => record ?? [])
  const compared = compare(records.map(({ values }) => values))
  let best: Beside | undefined
  for (const [at, record] of records.entries()) {
    const each = compared[at]
    if (each && (!best || each.score > best.compared.score)) best = { record, compared: each }
  }
  if (!best) return undefined
  const score = scoreOf(known, best.compared.score, compared)
  return { entity, best, score, isAbove: score >= known.weights.cut }
}

/** As clusters come about: the mean of bounded scores by average link, the best pair by every other method. */
function scoreOf({ lens, run, weights }: Known, best: number, compared: readonly Compared[]): number {
  const isMean = run.route !== 'links' && (lens.clustering ?? 'average_link') === 'average_link'
  if (!isMean || compared.length === 1) return best
  const bounded = compared.map(({ score }) => Math.max(weights.floor, Math.min(weights.highest, score)))
  return bounded.reduce((sum, each) => sum + each, 0) / bounded.length
}

/** Not the record itself, and where records of one source are never compared, none of the same node. */
function isOther({ lens }: Known, ref: RecordRef | undefined): (member: RecordRef) => boolean {
  if (!ref) return () => true
  if (lens.link_only) return ({ node_id }) => node_id !== ref.node_id
  return ({ node_id, record_id }) => node_id !== ref.node_id || record_id !== ref.record_id
}
