// Scores the similarity of two signals: a sum of points, each with its reason.
import type { StoredSignal } from '../signal/model.ts'
import type { SimilarityReason } from './model.ts'

const day_ms = 86_400_000

/** Maximum points of each reason; 100 in total, since `related` counts only for different subjects. */
const maxPoints = {
  same_subject: 40,
  related: 20,
  same_type: 15,
  same_source: 15,
  words: 20,
  near_in_time: 10,
} as const

export type ComparableSignal = Pick<
  StoredSignal,
  'subject' | 'signal_type' | 'source' | 'title' | 'description' | 'detected_at'
>

/**
 * `related`: the reason why their subjects are related; undefined when there is none. `window_days`: range of the
 * points for time.
 */
export type ComparisonContext = { readonly related: string | undefined; readonly window_days: number }

/** Reasons in descending order of their maximum; reasons without points are omitted. Symmetric in the two signals. */
export function findReasons(
  first: ComparableSignal,
  second: ComparableSignal,
  { related, window_days }: ComparisonContext,
): SimilarityReason[] {
  const isSameSubject = first.subject.id === second.subject.id
  const isSameSource = first.source.type === second.source.type && first.source.name === second.source.name
  const commonWords = compareWords(first, second)
  const apart_days = Math.abs(Date.parse(first.detected_at) - Date.parse(second.detected_at)) / day_ms
  const reasons: SimilarityReason[] = [
    { reason: 'same_subject', points: isSameSubject ? maxPoints.same_subject : 0, detail: first.subject.id },
    {
      reason: 'related',
      points: related !== undefined && !isSameSubject ? maxPoints.related : 0,
      detail: related ?? '',
    },
    {
      reason: 'same_type',
      points: first.signal_type === second.signal_type ? maxPoints.same_type : 0,
      detail: first.signal_type,
    },
    {
      reason: 'same_source',
      points: isSameSource && first.source.name !== undefined ? maxPoints.same_source : 0,
      detail: `${first.source.type} ${first.source.name}`,
    },
    {
      reason: 'words',
      points: roundToTenth(maxPoints.words * commonWords.overlap),
      detail: commonWords.words.slice(0, 10).join(' '),
    },
    {
      reason: 'near_in_time',
      points: roundToTenth(maxPoints.near_in_time * Math.max(0, 1 - apart_days / window_days)),
      detail: `${roundToTenth(apart_days)} days apart`,
    },
  ]
  return reasons.filter(({ points }) => points > 0)
}

export function sumPoints(reasons: readonly SimilarityReason[]): number {
  return roundToTenth(reasons.reduce((sum, { points }) => sum + points, 0))
}

/** Jaccard's coefficient of the sets of words in title and description (Jaccard 1912), and the words of both, in order. */
function compareWords(
  first: ComparableSignal,
  second: ComparableSignal,
): { readonly overlap: number; readonly words: readonly string[] } {
  const [firstWords, secondWords] = [extractWords(first), extractWords(second)]
  const words = [...firstWords].filter((word) => secondWords.has(word)).sort()
  const all = firstWords.size + secondWords.size - words.length
  return { overlap: all === 0 ? 0 : words.length / all, words }
}

/** Words compared of one signal: a description may be long, and its beginning is the most significant. */
const max_words = 500

/** Sequences of at least three letters and digits, in lower case and Unicode compatibility form. */
function extractWords({ title, description = '' }: ComparableSignal): Set<string> {
  const reasons =
    `${title} ${description}`
      .normalize('NFKC')
      .toLowerCase()
      .match(/[\p{L}\p{N}]{3,}/gu) ?? []
  return new Set(reasons.slice(0, max_words))
}

/** Rounds to one decimal, so that the shown points add up to the score. */
function roundToTenth(value: number): number {
  return Math.round(value * 10) / 10
}
