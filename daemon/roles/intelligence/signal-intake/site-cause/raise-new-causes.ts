// Walks a list of another role, newest first, and raises its causes until it reaches items of an earlier walk.
import { isRefusal, type Refusal } from '../../../../kernel/error/errors.ts'
import type { Call } from '../../../../kernel/operation/call.ts'
import { throwRefusal } from '../../../../kernel/operation/operation-contract.ts'
import type { SiteCause } from '../../../../shared/signal-cause/report-cause.ts'
import { seenCausesPart } from '../parts.ts'
import { raiseSiteCause } from './raise-site-cause.ts'
import { isBehind } from './rules.ts'

const page_size = 500

export type PageQuery = { readonly limit: number; readonly cursor?: string }

type ListWalk<T> = {
  readonly readPage: (
    query: PageQuery,
  ) => Promise<{ readonly items: readonly T[]; readonly next_cursor?: string | undefined } | Refusal>
  /** Time of an item, RFC 3339. */
  readonly timeOf: (item: T) => string
  /** Undefined for an item that is no cause. */
  readonly causeOf: (item: T) => SiteCause | undefined
}

/**
 * Raises the new causes of a list. Resolves with the time of the newest item, in epoch milliseconds; `before`: result
 * of the previous walk.
 */
export async function raiseNewCauses<T>(call: Call, walk: ListWalk<T>, before: number | undefined): Promise<number> {
  const { readPage, timeOf, causeOf } = walk
  let newest = before ?? 0
  let cursor: string | undefined
  do {
    const page = await throwRefusal(readPage({ limit: page_size, ...(cursor === undefined ? {} : { cursor }) }))
    for (const item of page.items) newest = Math.max(newest, Date.parse(timeOf(item)) || 0)
    await raiseCauses(
      call,
      page.items.map(causeOf).filter((each) => each !== undefined),
    )
    const last = page.items.at(-1)
    cursor = last === undefined || isBehind(timeOf(last), before) ? undefined : page.next_cursor
    // Interrupted: the next walk continues with the rest.
    if (call.signal.aborted) return before ?? 0
  } while (cursor !== undefined)
  return newest
}

/** Raises causes that this process has not raised yet; the store recognises causes that another process raised. */
export async function raiseCauses(call: Call, causes: readonly SiteCause[]): Promise<void> {
  const seenCauses = call.part(seenCausesPart)
  for (const cause of causes) {
    const key = `${cause.kind} ${cause.key}`
    if (call.signal.aborted) return
    if (seenCauses.has(key)) continue
    const result = await raiseSiteCause(call, cause)
    if (isRefusal(result)) {
      if (result.row.retryable) throw result
      call.log.error('intelligence.site_cause.refused', { kind: cause.kind, key: cause.key, code: result.code })
    }
    seenCauses.add(key)
  }
}
