// Finds signals that are like a given one: so many candidates by each index, however many there are, then scored.

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

/** Candidates by one question at most; with `only_open` as many of each open status. */
const candidateLimits = { subject: 100, entity: 20, before: 50, after: 50, named: 100 }
/** Other entities, and insights, that are looked into at most. */
const max_entities = 5
const max_insights = 5

/** The most similar first, then the latest, then by uid: the same whenever the same is stored. */
export async function findSimilarSignals(
  call: Call,
  of: Doc<StoredSignal>,
  query: SimilarityQuery,
): Promise<SimilarSignal[]> {
  const related = await loadRelatedSignals(call, of)
  const found = new Map<string, Doc<StoredSignal>>()
  const isWanted = ({ id, value: { visibility, status } }: Doc<StoredSignal>) =>
    id !== of.id && visibility === 'listed' && (!query.only_open || isOpen(status))
  const candidates = [...(await loadCandidates(call, of.value, related, query)), ...related.docs]
  for (const doc of candidates.filter(isWanted)) found.set(doc.id, doc)
  return [...found.values()]
    .map((doc) => scoreCandidate(call, of, doc, related, query))
    .filter(({ score }) => score >= query.min_score)
    .sort(compareByScore)
    .slice(0, query.limit)
}

type RelatedSignals = {
  readonly docs: readonly Doc<StoredSignal>[]
  /** Entities and signals to why they are related. */
  readonly entities: ReadonlyMap<string, string>
  readonly signals: ReadonlyMap<string, string>
}

/** What the sender named, and what is investigated together with it: these signals, and the entities that they are about. */
async function loadRelatedSignals(call: Call, { id, value }: Doc<StoredSignal>): Promise<RelatedSignals> {
  const why = new Map<string, string>()
  for (const each of value.related_signals ?? []) why.set(each, `named by ${id}`)
  for (const { insight_id, label } of value.links.slice(0, max_insights)) {
    if (!dominates(call.caller, label, call.site.labels)) continue
    const insight = await call.store(insights).find(insight_id)
    for (const { signal_id } of insight?.value.links ?? [])
      if (signal_id !== id && !why.has(signal_id)) why.set(signal_id, `in ${insight_id}`)
  }
  const known = [...why].slice(0, candidateLimits.named)
  const docs = (await Promise.all(known.map(([each]) => call.store(signals).find(each)))).filter(
    (doc) => doc !== undefined,
  )
  const entities = new Map<string, string>()
  for (const doc of docs)
    if (doc.value.subject_id !== value.subject_id) entities.set(doc.value.subject_id, `about what ${doc.id} is about`)
  return { docs, entities: new Map([...entities].sort().slice(0, max_entities)), signals: why }
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
  of: Doc<StoredSignal>,
  doc: Doc<StoredSignal>,
  known: RelatedSignals,
  { window_days }: SimilarityQuery,
): SimilarSignal {
  const named = doc.value.related_signals?.includes(of.id) ? `names ${of.id}` : undefined
  const related = named ?? known.signals.get(doc.id) ?? known.entities.get(doc.value.subject_id)
  const reasons = findReasons(of.value, doc.value, { related, window_days })
  return { signal: showSignal(call, doc), score: sumPoints(reasons), reasons }
}

function compareByScore(one: SimilarSignal, other: SimilarSignal): number {
  if (one.score !== other.score) return other.score - one.score
  const [late, early] = [other.signal.detected_at, one.signal.detected_at]
  return late < early ? -1 : late > early ? 1 : one.signal.uid < other.signal.uid ? -1 : 1
}
