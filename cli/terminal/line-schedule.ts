// When a followed feed prints a line in JSON: at changes, and now and then for a position that moved without any.

/**
 * A stored position is refused once later changes are no longer kept, also those that the reader may not see. A line an hour keeps
 * it far from that: changes are kept for two days at least, and a position without changes is one day old.
 */
const quiet_line_ms = 3_600_000

export type FeedPage = { readonly items: readonly unknown[]; readonly next_since: string | undefined }

/** Decides for the pages of one feed, in their order. `now_ms` grows, and never with the time of day. */
export function createLineSchedule(start_ms: number): (page: FeedPage, now_ms: number) => boolean {
  let printed_ms = start_ms
  let printed: string | undefined
  return ({ items, next_since }, now_ms) => {
    const isDue = next_since !== printed && now_ms - printed_ms >= quiet_line_ms
    if (items.length === 0 && !isDue) return false
    printed_ms = now_ms
    printed = next_since
    return true
  }
}
