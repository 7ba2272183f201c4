// How like a signal another one is: a sum of points that a person can add up, each with its reason.
import type { StoredSignal } from '../signal/model.ts'
import type { SimilarityReason } from './model.ts'

const day_ms = 86_400_000

/** The most that each reason gives; 100 together, as `related` is asked only where the subject is another. */
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

/** `related`: why they are about related things; undefined when nothing says so. `window_days`: how far time counts. */
export type ComparisonContext = { readonly related: string | undefined; readonly window_days: number }

/** In falling order of what each may give; what gives nothing is left out. Independent of the order of the two. */
export function findReasons(
  one: ComparableSignal,
  other: ComparableSignal,
  { related, window_days }: ComparisonContext,
): SimilarityReason[] {
  const isSameSubject = one.subject.id === other.subject.id
  const isSameSource = one.source.type === other.source.type && one.source.name === other.source.name
  const shared = compareWords(one, other)
  const apart_days = Math.abs(Date.parse(one.detected_at) - Date.parse(other.detected_at)) / day_ms
  const reasons: SimilarityReason[] = [
    { reason: 'same_subject', points: isSameSubject ? maxPoints.same_subject : 0, detail: one.subject.id },
    {
      reason: 'related',
      points: related !== undefined && !isSameSubject ? maxPoints.related : 0,
      detail: related ?? '',
    },
    {
      reason: 'same_type',
      points: one.signal_type === other.signal_type ? maxPoints.same_type : 0,
      detail: one.signal_type,
    },
    {
      reason: 'same_source',
      points: isSameSource && one.source.name !== undefined ? maxPoints.same_source : 0,
      detail: `${one.source.type} ${one.source.name}`,
    },
    {
      reason: 'words',
      points: roundToTenth(maxPoints.words * shared.overlap),
      detail: shared.words.slice(0, 10).join(' '),
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
  one: ComparableSignal,
  other: ComparableSignal,
): { readonly overlap: number; readonly words: readonly string[] } {
  const [mine, theirs] = [extractWords(one), extractWords(other)]
  const words = [...mine].filter((word) => theirs.has(word)).sort()
  const all = mine.size + theirs.size - words.length
  return { overlap: all === 0 ? 0 : words.length / all, words }
}

/** A description may be long: what it says first says most. */
const max_words = 500

/** Letters and digits in a row, three or more; without case, and without the forms that Unicode calls compatible. */
function extractWords({ title, description = '' }: ComparableSignal): Set<string> {
  const found =
    `${title} ${description}`
      .normalize('NFKC')
      .toLowerCase()
      .match(/[\p{L}\p{N}]{3,}/gu) ?? []
  return new Set(found.slice(0, max_words))
}

/** One decimal, so that the points that are shown add up to the score. */
function roundToTenth(value: number): number {
  return Math.round(value * 10) / 10
}
