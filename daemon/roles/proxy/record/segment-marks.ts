// Index terms of a segment, so that few segments are read for a rare verdict or source.
import type { RequestVerdict } from '../reasons.ts'
import type { RecordLineHead } from './record-line.ts'

export type RecordFilter = { readonly verdict?: RequestVerdict | undefined; readonly source?: string | undefined }

/** The terms of a segment. Most requests are allowed, so an allowed request is indexed by its source only. */
export function deriveSegmentMarks(heads: Iterable<RecordLineHead>): Set<string> {
  const marks = new Set<string>()
  for (const { verdict, source } of heads) {
    marks.add(verdict).add(source)
    if (verdict !== 'allow') marks.add(`${verdict} ${source}`)
  }
  return marks
}

/** The term that every segment with matching records has; undefined when any segment may have some. */
export function selectSegmentMark({ verdict, source }: RecordFilter): string | undefined {
  if (source === undefined) return verdict
  return verdict === undefined || verdict === 'allow' ? source : `${verdict} ${source}`
}
