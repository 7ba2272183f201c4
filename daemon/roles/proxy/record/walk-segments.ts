// Walks the stored segments that may hold the records of a list, by their marks, the latest end first.
import type { Call } from '../../../kernel/operation/call.ts'
import type { Filter } from '../../../kernel/store/store.ts'
import { segmentMarks, shippedSegments } from './model.ts'
import type { RecordFilter } from './record-filter.ts'
import { long_mark, longest_span_ms, marks_version, selectSegmentMarks } from './segment-marks.ts'

export type StoredSegment = { readonly id: string; readonly until: number; readonly lines: string }

/** A segment that may be read. `lines`: absent where only a mark of it was read. */
type SegmentReference = { readonly id: string; readonly until: number; readonly lines?: string }

const order = { field: 'until', direction: 'desc' } as const
const marks_per_page = 32
/** A segment has up to a megabyte of lines. */
const segments_per_page = 2

/** `until`: end of the latest segment that may be meant; `at`: no later record is meant. Epoch milliseconds. */
export async function* walkSegments(
  call: Call,
  filter: RecordFilter,
  { until, at }: { readonly until: number; readonly at: number },
): AsyncGenerator<StoredSegment> {
  const latest = Math.min(until, at + longest_span_ms)
  const selection = selectSegmentMarks(filter)
  const streams = selection
    ? selection.marks.map((mark) => streamMarked(call, mark, { lte: latest }))
    : [streamSegments(call, latest)]
  if (latest < until) streams.push(streamMarked(call, long_mark, { gt: latest, lte: until }))
  // Segments from before such marks existed are read one after the other.
  if (selection?.since_version === marks_version)
    streams.push(streamSegments(call, Math.min(latest, await findEndOfUnmarked(call))))
  for await (const { id, until, lines } of mergeStreams(streams)) {
    const content = lines ?? (await call.store(shippedSegments).find(id))?.value.lines
    if (content !== undefined) yield { id, until, lines: content }
  }
}

async function findEndOfUnmarked(call: Call): Promise<number> {
  const oldestFirst = { field: 'until', direction: 'asc' } as const
  const { docs } = await call.store(shippedSegments).list({ filter: { marks_version }, order: oldestFirst, limit: 1 })
  const [first] = docs
  return first ? (first.value.until ?? 0) + longest_span_ms : Number.MAX_SAFE_INTEGER
}

async function* streamSegments(call: Call, latest: number): AsyncGenerator<SegmentReference> {
  let cursor: string | undefined
  do {
    const on = cursor === undefined ? {} : { cursor }
    const filter = { until: { lte: latest } }
    const page = await call.store(shippedSegments).list({ filter, order, limit: segments_per_page, ...on })
    for (const { id, value } of page.docs) yield { id, until: value.until ?? 0, lines: value.lines ?? '' }
    cursor = page.next_cursor
  } while (cursor !== undefined)
}

async function* streamMarked(call: Call, mark: string, until: Filter[string]): AsyncGenerator<SegmentReference> {
  let cursor: string | undefined
  do {
    const on = cursor === undefined ? {} : { cursor }
    const page = await call.store(segmentMarks).list({ filter: { mark, until }, order, limit: marks_per_page, ...on })
    for (const { value } of page.docs) yield { id: value.segment, until: value.until }
    cursor = page.next_cursor
  } while (cursor !== undefined)
}

/** The latest end first, and each segment once. */
async function* mergeStreams(streams: readonly AsyncGenerator<SegmentReference>[]): AsyncGenerator<SegmentReference> {
  const heads = await Promise.all(streams.map((stream) => stream.next()))
  const seen = new Set<string>()
  for (;;) {
    let latest: number | undefined
    for (const [at, head] of heads.entries()) {
      const best = latest === undefined ? undefined : heads[latest]
      if (!head.done && (!best || best.done || head.value.until > best.value.until)) latest = at
    }
    if (latest === undefined) return
    const { value } = heads[latest] as IteratorYieldResult<SegmentReference>
    heads[latest] = await (streams[latest] as AsyncGenerator<SegmentReference>).next()
    if (!seen.has(value.id)) yield value
    seen.add(value.id)
  }
}
