// Limits the size of a request by count and by bytes, and halves a request that the cluster refuses as too large.
import { Refusal } from '../../../../daemon/kernel/error/errors.ts'

/** Limits of one request. The limit in bytes is far below the default limit of a cluster (100 MB). */
export const max_request_items = 500
export const max_request_bytes = 8_000_000

/** Number of leading items that fit into one request: at least one. */
export function countFitting(sizes: readonly number[], bytes: number): number {
  let sum = 0
  const beyond = sizes.slice(0, max_request_items).findIndex((size) => {
    sum += size
    return sum > bytes
  })
  return beyond < 0 ? Math.min(sizes.length, max_request_items) : Math.max(beyond, 1)
}

/** Yields the items in chunks that fit into one request each. */
export function* splitIntoRequests<T>(items: readonly T[], sizeOf: (item: T) => number): Generator<readonly T[]> {
  const sizes = items.map(sizeOf)
  for (let at = 0, count = 0; at < items.length; at += count) {
    count = countFitting(sizes.slice(at, at + max_request_items), max_request_bytes)
    yield items.slice(at, at + count)
  }
}

/** A request that was refused for its size has had no effect. */
export function isTooLarge(error: unknown): boolean {
  return error instanceof Refusal && error.code === 'too_large'
}

export function splitInHalf<T>(items: readonly T[]): readonly [readonly T[], readonly T[]] {
  const middle = Math.ceil(items.length / 2)
  return [items.slice(0, middle), items.slice(middle)]
}
