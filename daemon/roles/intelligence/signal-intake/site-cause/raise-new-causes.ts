// Walks what another role lists, the newest first, and raises what it finds until it is among what an earlier walk has seen.
import { isRefusal, type Refusal } from '../../../../kernel/error/errors.ts'
import type { Call } from '../../../../kernel/operation/call.ts'
import { throwRefusal } from '../../../../kernel/operation/operation-contract.ts'
import { seenCausesPart } from '../parts.ts'
import type { SiteCause } from './model.ts'
import { raiseSiteCause } from './raise-site-cause.ts'
import { isBehind } from './rules.ts'

const page_size = 500

export type PageQuery = { readonly limit: number; readonly cursor?: string }

type ListWalk<T> = {
  readonly readPage: (
    query: PageQuery,
  ) => Promise<{ readonly items: readonly T[]; readonly next_cursor?: string | undefined } | Refusal>
  /** RFC 3339. */
  readonly timeOf: (item: T) => string
  readonly causeOf: (item: T) => SiteCause
}

/** The time of the newest that has been seen, in epoch milliseconds; `before` is that of an earlier walk. */
export async function raiseNewCauses<T>(call: Call, walk: ListWalk<T>, before: number | undefined): Promise<number> {
  const { readPage, timeOf, causeOf } = walk
  let newest = before ?? 0
  let cursor: string | undefined
  do {
    const page = await throwRefusal(readPage({ limit: page_size, ...(cursor === undefined ? {} : { cursor }) }))
    for (const item of page.items) newest = Math.max(newest, Date.parse(timeOf(item)) || 0)
    await raiseCauses(call, page.items.map(causeOf))
    const last = page.items.at(-1)
    cursor = last === undefined || isBehind(timeOf(last), before) ? undefined : page.next_cursor
    // Cut short: what was not reached is for the next walk.
    if (call.signal.aborted) return before ?? 0
  } while (cursor !== undefined)
  return newest
}

/** What was raised by this process is not even tried again; what another has, the store knows. */
export async function raiseCauses(call: Call, causes: readonly SiteCause[]): Promise<void> {
  const seen = call.part(seenCausesPart)
  for (const cause of causes) {
    const key = `${cause.kind} ${cause.key}`
    if (call.signal.aborted) return
    if (seen.has(key)) continue
    const done = await raiseSiteCause(call, cause)
    if (isRefusal(done)) {
      if (done.row.retryable) throw done
      call.log.error('intelligence.within.refused', { kind: cause.kind, key: cause.key, code: done.code })
    }
    seen.add(key)
  }
}
