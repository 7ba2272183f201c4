// Index terms of a segment, so that few segments are read for a rare verdict, status, rule or source.
import { listVerdicts, type RecordFilter } from './record-filter.ts'
import type { RecordLineHead } from './record-line.ts'

/** Version of the terms: segments stored before have none of statuses and rules, nor the mark of a long one. */
export const marks_version = 2

/**
 * A segment without the mark `long_mark` ends at most this much after each of its records: threads seal theirs every
 * second, and only a clock that jumps makes one longer.
 */
export const longest_span_ms = 60_000
export const long_mark = 'long'

/** The terms of a segment. Most requests are allowed, so an allowed request is not indexed by verdict and source together. */
export function deriveSegmentMarks(heads: readonly RecordLineHead[]): Set<string> {
  const marks = new Set<string>()
  let [oldest, newest] = [Number.POSITIVE_INFINITY, 0]
  for (const { at, verdict, status, rule, source } of heads) {
    marks.add(verdict).add(source).add(`status ${status}`)
    if (rule !== undefined) marks.add(`rule ${rule}`)
    if (verdict !== 'allow') marks.add(`${verdict} ${source}`)
    oldest = Math.min(oldest, at)
    newest = Math.max(newest, at)
  }
  if (newest - oldest > longest_span_ms) marks.add(long_mark)
  return marks
}

/** `marks`: every segment with matching records has one of them. `since_version`: that of the first segments with such marks. */
export type MarkSelection = { readonly marks: readonly string[]; readonly since_version: number }

/** The terms that select most; undefined when any segment may have matching records. */
export function selectSegmentMarks(filter: RecordFilter): MarkSelection | undefined {
  const { status, rule, source } = filter
  const verdicts = listVerdicts(filter)
  if (source !== undefined) {
    const isRefused = verdicts !== undefined && !verdicts.includes('allow')
    return { marks: isRefused ? verdicts.map((verdict) => `${verdict} ${source}`) : [source], since_version: 1 }
  }
  if (rule !== undefined) return { marks: [`rule ${rule}`], since_version: marks_version }
  if (status !== undefined) return { marks: [`status ${status}`], since_version: marks_version }
  return verdicts && { marks: verdicts, since_version: 1 }
}
