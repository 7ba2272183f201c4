// Finds signals similar to a given one: loads a bounded number of candidates from each index, then scores them.

import { dominates } from '../../../kernel/label/label.ts'
import type { Call } from '../../../kernel/operation/call.ts'
import type { Doc, Filter } from '../../../kernel/store/store.ts'
import { insights } from '../insight/model.ts'
import { type StoredSignal, signals } from '../signal/model.ts'
import { isOpen, open_statuses } from '../signal/rules.ts'
import { showSignal } from '../signal/view.ts'
import type { SimilarSignal } from './model.ts'
import { findReasons, sumPoints } from './rules.ts'

export type SimilarityQuery = {
  readonly only_open: boolean
  readonly window_days: number
  readonly min_score: number
  readonly limit: number
}

const day_ms = 86_400_000

/** Maximum number of candidates per query; with `only_open` per open status. */
const candidateLimits = { subject: 100, entity: 20, before: 50, after: 50, named: 100 }
/** Maximum number of other entities, and of insights, that are searched. */
const max_entities = 5
const max_insights = 5

/** The most similar first, then the latest, then by uid: a stable order. */
export async function findSimilarSignals(
  call: Call,
  signal: Doc<StoredSignal>,
  query: SimilarityQuery,
): Promise<SimilarSignal[]> {
  const related = await loadRelatedSignals(call, signal)
  const similar = new Map<string, Doc<StoredSignal>>()
  const isCandidate = ({ id, value: { visibility, status } }: Doc<StoredSignal>) =>
    id !== signal.id && visibility === 'listed' && (!query.only_open || isOpen(status))
  const candidates = [...(await loadCandidates(call, signal.value, related, query)), ...related.docs]
  for (const doc of candidates.filter(isCandidate)) similar.set(doc.id, doc)
  return [...similar.values()]
    .map((doc) => scoreCandidate(call, signal, doc, related, query))
    .filter(({ score }) => score >= query.min_score)
    .sort(compareByScore)
    .slice(0, query.limit)
}

type RelatedSignals = {
  readonly docs: readonly Doc<StoredSignal>[]
  /** Related entities and signals, each with the reason. */
  readonly entities: ReadonlyMap<string, string>
  readonly signals: ReadonlyMap<string, string>
}

/** Signals that the sender named or that are investigated in the same insight, and the entities that they are about. */
async function loadRelatedSignals(call: Call, { id, value }: Doc<StoredSignal>): Promise<RelatedSignals> {
  const reasons = new Map<string, string>()
  for (const each of value.related_signals ?? []) reasons.set(each, `named by ${id}`)
  for (const { insight_id, label } of value.links.slice(0, max_insights)) {
    if (!dominates(call.caller, label, call.site.labels)) continue
    const insight = await call.store(insights).find(insight_id)
    for (const { signal_id } of insight?.value.links ?? [])
      if (signal_id !== id && !reasons.has(signal_id)) reasons.set(signal_id, `in ${insight_id}`)
  }
  const relatedIds = [...reasons].slice(0, candidateLimits.named)
  const docs = (await Promise.all(relatedIds.map(([each]) => call.store(signals).find(each)))).filter(
    (doc) => doc !== undefined,
  )
  const entities = new Map<string, string>()
  for (const doc of docs)
    if (doc.value.subject_id !== value.subject_id) entities.set(doc.value.subject_id, `subject of ${doc.id}`)
  return { docs, entities: new Map([...entities].sort().slice(0, max_entities)), signals: reasons }
}

async function loadCandidates(
  call: Call,
  { subject_id, signal_type, detected_at }: StoredSignal,
  { entities }: RelatedSignals,
  { only_open, window_days }: SimilarityQuery,
): Promise<Doc<StoredSignal>[]> {
  const at = Date.parse(detected_at)
  const iso = (ms: number) => new Date(ms).toISOString()
  const before = { detected_at: { gte: iso(at - window_days * day_ms), lte: detected_at } }
  const after = { detected_at: { gt: detected_at, lte: iso(at + window_days * day_ms) } }
  const latest = (filter: Filter, limit: number) => ({ filter, limit, direction: 'desc' as const })
  const questions = [
    latest({ subject_id, subject_visibility: 'listed' }, candidateLimits.subject),
    ...[...entities.keys()].map((entity) =>
      latest({ subject_id: entity, subject_visibility: 'listed' }, candidateLimits.entity),
    ),
    ...[{ signal_type, visibility: 'listed' }, { visibility: 'listed' }].flatMap((filter) => [
      latest({ ...filter, ...before }, candidateLimits.before),
      { filter: { ...filter, ...after }, limit: candidateLimits.after, direction: 'asc' as const },
    ]),
  ]
  const narrowed = questions.flatMap(({ filter, ...rest }) =>
    only_open ? open_statuses.map((status) => ({ ...rest, filter: { ...filter, status } })) : [{ ...rest, filter }],
  )
  const pages = narrowed.map(({ filter, limit, direction }) =>
    call.store(signals).list({ filter, limit, order: { field: 'detected_at', direction } }),
  )
  return (await Promise.all(pages)).flatMap(({ docs }) => docs)
}

function scoreCandidate(
  call: Call,
  signal: Doc<StoredSignal>,
  doc: Doc<StoredSignal>,
  relations: RelatedSignals,
  { window_days }: SimilarityQuery,
): SimilarSignal {
  const namedReason = doc.value.related_signals?.includes(signal.id) ? `names ${signal.id}` : undefined
  const related = namedReason ?? relations.signals.get(doc.id) ?? relations.entities.get(doc.value.subject_id)
  const reasons = findReasons(signal.value, doc.value, { related, window_days })
  return { signal: showSignal(call, doc), score: sumPoints(reasons), reasons }
}

function compareByScore(left: SimilarSignal, right: SimilarSignal): number {
  if (left.score !== right.score) return right.score - left.score
  const [late, early] = [right.signal.detected_at, left.signal.detected_at]
  return late < early ? -1 : late > early ? 1 : left.signal.uid < right.signal.uid ? -1 : 1
}
