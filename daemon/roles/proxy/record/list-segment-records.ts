// Lists records from segments that the store keeps whole, newest first, from the position of a cursor on.

import { refuse } from '../../../kernel/error/errors.ts'
import type { Call } from '../../../kernel/operation/call.ts'
import { readCursor, writeCursor } from '../../../kernel/store/list-cursor.ts'
import type { ListQuery } from '../../../kernel/store/store.ts'
import { type RequestRecord, segmentMarks, shippedSegments } from './model.ts'
import { parseRecordLine, readLineHead } from './record-line.ts'
import { type RecordFilter, selectSegmentMark } from './segment-marks.ts'

export type RequestRecordPage = { readonly items: RequestRecord[]; readonly next_cursor?: string }

/** A matching line. `place`: segment and line, which order records of one millisecond. */
type SegmentLine = { readonly at: number; readonly place: string; readonly line: string }

/**
 * A position in the list: the last returned record, and the latest end of the segments that hold the following
 * records.
 */
type SegmentPosition = { readonly until: number; readonly at: number; readonly place: string }

/** Maximum number of segments without a match per list: then it ends early with a cursor. */
const max_fruitless_segments = 32

const newestPosition: SegmentPosition = { until: Number.MAX_SAFE_INTEGER, at: Number.MAX_SAFE_INTEGER, place: '' }

/** @throws Refusal('malformed') for a cursor of another list. */
export async function listSegmentRecords(
  call: Call,
  filter: RecordFilter,
  limit: number,
  cursor: string | undefined,
): Promise<RequestRecordPage> {
  const query = buildSegmentQuery(filter, limit, cursor)
  const after = parsePosition(query)
  const segmentMatches: { readonly until: number; readonly matches: readonly SegmentLine[] }[] = []
  let open = -1
  let in_vain = 0
  for await (const { id, until, lines } of walkSegments(call, selectSegmentMark(filter), after.until)) {
    const returned_count = segmentMatches.flatMap(({ matches }) => matches.filter(({ at }) => at > until)).length
    if (returned_count > limit || in_vain >= max_fruitless_segments) {
      open = until
      break
    }
    const matches = matchLines(id, lines, filter, after)
    if (matches.length > 0) segmentMatches.push({ until, matches })
    else if (until <= after.at) in_vain += 1
  }
  // A segment that was not read may hold records as new as its end.
  const safe = segmentMatches
    .flatMap(({ matches }) => matches.filter(({ at }) => at > open))
    .sort((left, right) => comparePositions(right, left))
  const page = safe.slice(0, limit)
  const items = page.map(({ line }) => parseRecordLine(line)).filter((record) => record !== undefined)
  if (open < 0 && safe.length <= limit) return { items }
  const all = { at: open, place: '\uffff' }
  const last = safe.length > limit ? (page.at(-1) ?? all) : all
  const rest = segmentMatches
    .filter(({ matches }) => matches.some((each) => comparePositions(each, last) < 0))
    .map(({ until }) => until)
  const until = Math.max(open, ...rest)
  const next_cursor = writeCursor('segments', query, { value: until, id: `${last.at} ${last.place}` })
  return { items, next_cursor }
}

function buildSegmentQuery({ verdict, source }: RecordFilter, limit: number, cursor: string | undefined): ListQuery {
  const filter = { ...(verdict === undefined ? {} : { verdict }), ...(source === undefined ? {} : { source }) }
  return { filter, limit, ...(cursor === undefined || cursor === '' ? {} : { cursor }) }
}

function parsePosition(query: ListQuery): SegmentPosition {
  const position = readCursor('segments', query)
  if (!position) return newestPosition
  const [, at, place = ''] = /^(\d{1,16}) (.*)$/.exec(position.id) ?? []
  if (at === undefined || typeof position.value !== 'number')
    throw refuse('malformed', 'the cursor does not belong to this list; start again without it')
  return { until: position.value, at: Number(at), place }
}

function comparePositions(left: Pick<SegmentLine, 'at' | 'place'>, right: Pick<SegmentLine, 'at' | 'place'>): number {
  return left.at - right.at || (left.place < right.place ? -1 : left.place > right.place ? 1 : 0)
}

function matchLines(segment: string, lines: string, filter: RecordFilter, after: SegmentPosition): SegmentLine[] {
  const matches: SegmentLine[] = []
  for (const [at, line] of lines.split('\n').entries()) {
    const head = readLineHead(line)
    if (!head) continue
    if (filter.verdict !== undefined && head.verdict !== filter.verdict) continue
    if (filter.source !== undefined && head.source !== filter.source) continue
    const each = { at: head.at, place: `${segment}-${String(at).padStart(6, '0')}`, line }
    if (comparePositions(each, after) < 0) matches.push(each)
  }
  return matches
}

type StoredSegment = { readonly id: string; readonly until: number; readonly lines: string }

/** Segments that end at or before `until`, the latest end first. */
async function* walkSegments(call: Call, mark: string | undefined, until: number): AsyncGenerator<StoredSegment> {
  const order = { field: 'until', direction: 'desc' } as const
  let cursor: string | undefined
  do {
    const on = cursor === undefined ? {} : { cursor }
    if (mark === undefined) {
      const page = await call.store(shippedSegments).list({ filter: { until: { lte: until } }, order, limit: 2, ...on })
      for (const { id, value } of page.docs) yield { id, until: value.until ?? 0, lines: value.lines ?? '' }
      cursor = page.next_cursor
    } else {
      const filter = { mark, until: { lte: until } }
      const page = await call.store(segmentMarks).list({ filter, order, limit: max_fruitless_segments, ...on })
      for (const { value } of page.docs) {
        const segment = await call.store(shippedSegments).find(value.segment)
        if (segment) yield { id: segment.id, until: value.until, lines: segment.value.lines ?? '' }
      }
      cursor = page.next_cursor
    }
  } while (cursor !== undefined)
}
