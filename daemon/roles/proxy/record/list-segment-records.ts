// Lists records from segments that the store keeps whole, newest first, from the position of a cursor on.

import { refuse } from '../../../kernel/error/errors.ts'
import type { Call } from '../../../kernel/operation/call.ts'
import { readCursor, writeCursor } from '../../../kernel/store/list-cursor.ts'
import type { ListQuery } from '../../../kernel/store/store.ts'
import type { RequestRecord } from './model.ts'
import { compileRecordFilter, type RecordFilter } from './record-filter.ts'
import { parseRecordLine, type RecordLineHead, readLineHead } from './record-line.ts'
import { walkSegments } from './walk-segments.ts'

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

/** @throws Refusal('malformed') for a cursor of another list. */
export async function listSegmentRecords(
  call: Call,
  filter: RecordFilter,
  limit: number,
  cursor: string | undefined,
): Promise<RequestRecordPage> {
  const query = buildSegmentQuery(filter, limit, cursor)
  const after = parsePosition(query) ?? findFirstPosition(filter)
  const isMeant = compileRecordFilter(filter)
  const since = filter.since === undefined ? 0 : Date.parse(filter.since)
  const segmentMatches: { readonly until: number; readonly matches: readonly SegmentLine[] }[] = []
  let open = -1
  let in_vain = 0
  for await (const { id, until, lines } of walkSegments(call, filter, after)) {
    if (until < since) break
    const returned_count = segmentMatches.flatMap(({ matches }) => matches.filter(({ at }) => at > until)).length
    if (returned_count > limit || in_vain >= max_fruitless_segments) {
      open = until
      break
    }
    const matches = matchLines(id, lines, isMeant, after)
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

function buildSegmentQuery(filter: RecordFilter, limit: number, cursor: string | undefined): ListQuery {
  const given = Object.entries(filter).filter((entry): entry is [string, string | number] => entry[1] !== undefined)
  return { filter: Object.fromEntries(given), limit, ...(cursor === undefined ? {} : { cursor }) }
}

/** Before the newest record that the filter lets through. */
function findFirstPosition({ until }: RecordFilter): SegmentPosition {
  const at = until === undefined ? Number.MAX_SAFE_INTEGER : Date.parse(until)
  return { until: Number.MAX_SAFE_INTEGER, at, place: '' }
}

function parsePosition(query: ListQuery): SegmentPosition | undefined {
  const position = readCursor('segments', query)
  if (!position) return undefined
  const [, at, place = ''] = /^(\d{1,16}) (.*)$/.exec(position.id) ?? []
  if (at === undefined || typeof position.value !== 'number')
    throw refuse('malformed', 'the cursor does not belong to this list; start again without it')
  return { until: position.value, at: Number(at), place }
}

function comparePositions(left: Pick<SegmentLine, 'at' | 'place'>, right: Pick<SegmentLine, 'at' | 'place'>): number {
  return left.at - right.at || (left.place < right.place ? -1 : left.place > right.place ? 1 : 0)
}

function matchLines(
  segment: string,
  lines: string,
  isMeant: (head: RecordLineHead) => boolean,
  after: SegmentPosition,
): SegmentLine[] {
  const matches: SegmentLine[] = []
  for (const [at, line] of lines.split('\n').entries()) {
    const head = readLineHead(line)
    if (!head || !isMeant(head)) continue
    const each = { at: head.at, place: `${segment}-${String(at).padStart(6, '0')}`, line }
    if (comparePositions(each, after) < 0) matches.push(each)
  }
  return matches
}
