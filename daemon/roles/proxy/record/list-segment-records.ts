// Reads records out of the segments that the store keeps whole: newest first, on from where a list has ended.

import { refuse } from '../../../kernel/error/errors.ts'
import type { Call } from '../../../kernel/operation/call.ts'
import { readCursor, writeCursor } from '../../../kernel/store/list-cursor.ts'
import type { ListQuery } from '../../../kernel/store/store.ts'
import { type RequestRecord, segmentMarks, shippedSegments } from './model.ts'
import { parseRecordLine, readLineHead } from './record-line.ts'
import { type RecordFilter, selectSegmentMark } from './segment-marks.ts'

export type RequestRecordPage = { readonly items: RequestRecord[]; readonly next_cursor?: string }

/** `place`: segment and line, so that records of one millisecond have an order too. */
type SegmentLine = { readonly at: number; readonly place: string; readonly line: string }

/** The last record that was given, and until when the newest segment may reach that holds what comes after it. */
type SegmentPosition = { readonly until: number; readonly at: number; readonly place: string }

/** Segments that are looked through in vain for one list: then it ends early, and can be gone on with. */
const max_fruitless_segments = 32

const newestPosition: SegmentPosition = { until: Number.MAX_SAFE_INTEGER, at: Number.MAX_SAFE_INTEGER, place: '' }

/** @throws Refusal('malformed') for a cursor of another list. */
export async function listSegmentRecords(
  call: Call,
  wanted: RecordFilter,
  limit: number,
  cursor: string | undefined,
): Promise<RequestRecordPage> {
  const query = buildSegmentQuery(wanted, limit, cursor)
  const after = parsePosition(query)
  const held: { readonly until: number; readonly found: readonly SegmentLine[] }[] = []
  let open = -1
  let in_vain = 0
  for await (const { id, until, lines } of walkSegments(call, selectSegmentMark(wanted), after.until)) {
    const given = held.flatMap(({ found }) => found.filter(({ at }) => at > until)).length
    if (given > limit || in_vain >= max_fruitless_segments) {
      open = until
      break
    }
    const found = matchLines(id, lines, wanted, after)
    if (found.length > 0) held.push({ until, found })
    else if (until <= after.at) in_vain += 1
  }
  // A segment that is not looked at may hold what is as new as its end.
  const sure = held
    .flatMap(({ found }) => found.filter(({ at }) => at > open))
    .sort((one, other) => comparePositions(other, one))
  const some = sure.slice(0, limit)
  const items = some.map(({ line }) => parseRecordLine(line)).filter((record) => record !== undefined)
  if (open < 0 && sure.length <= limit) return { items }
  const all = { at: open, place: '\uffff' }
  const last = sure.length > limit ? (some.at(-1) ?? all) : all
  const rest = held
    .filter(({ found }) => found.some((each) => comparePositions(each, last) < 0))
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
  const found = readCursor('segments', query)
  if (!found) return newestPosition
  const [, at, place = ''] = /^(\d{1,16}) (.*)$/.exec(found.id) ?? []
  if (at === undefined || typeof found.value !== 'number')
    throw refuse('malformed', 'the cursor is not one of this list')
  return { until: found.value, at: Number(at), place }
}

function comparePositions(one: Pick<SegmentLine, 'at' | 'place'>, other: Pick<SegmentLine, 'at' | 'place'>): number {
  return one.at - other.at || (one.place < other.place ? -1 : one.place > other.place ? 1 : 0)
}

function matchLines(segment: string, lines: string, wanted: RecordFilter, after: SegmentPosition): SegmentLine[] {
  const found: SegmentLine[] = []
  for (const [at, line] of lines.split('\n').entries()) {
    const head = readLineHead(line)
    if (!head) continue
    if (wanted.verdict !== undefined && head.verdict !== wanted.verdict) continue
    if (wanted.source !== undefined && head.source !== wanted.source) continue
    const each = { at: head.at, place: `${segment}-${String(at).padStart(6, '0')}`, line }
    if (comparePositions(each, after) < 0) found.push(each)
  }
  return found
}

type StoredSegment = { readonly id: string; readonly until: number; readonly lines: string }

/** Those that reach no further than `until`, by how far they reach, the furthest first. */
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
