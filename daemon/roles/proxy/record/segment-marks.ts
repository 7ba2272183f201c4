// By which words a segment is found again, so that few are read for a rare verdict or source.
import type { RequestVerdict } from '../reasons.ts'
import type { RecordLineHead } from './record-line.ts'

export type RecordFilter = { readonly verdict?: RequestVerdict | undefined; readonly source?: string | undefined }

/** Nearly all is allowed: a source among it is looked for by its own mark alone. */
export function deriveSegmentMarks(heads: Iterable<RecordLineHead>): Set<string> {
  const marks = new Set<string>()
  for (const { verdict, source } of heads) {
    marks.add(verdict).add(source)
    if (verdict !== 'allow') marks.add(`${verdict} ${source}`)
  }
  return marks
}

/** The mark of every segment that can hold what is wanted; undefined when any can. */
export function selectSegmentMark({ verdict, source }: RecordFilter): string | undefined {
  if (source === undefined) return verdict
  return verdict === undefined || verdict === 'allow' ? source : `${verdict} ${source}`
}
