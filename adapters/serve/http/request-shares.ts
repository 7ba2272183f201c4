// The shares that a request takes of its listener, so that no caller, no address and no unidentified crowd takes all.
import { Refusal } from '../../../daemon/kernel/error/errors.ts'
import type { Caller } from '../../../daemon/kernel/identity/identity.ts'
import type { ListenerLimits } from './limits.ts'
import type { Share } from './shares.ts'

/** `caller`: undefined when no credential identified one. `source`: undefined on a socket file. */
export type RequestOrigin = { readonly caller: Caller | undefined; readonly source: string | undefined }

export function admissionShares(source: string | undefined, limits: ListenerLimits): Share[] {
  return source === undefined
    ? []
    : [{ name: `admissions of address ${source}`, most: limits.admissions_per_source, of: 'address' }]
}

/**
 * Unidentified requests without a body, such as probes of health, are apart from those that make the listener wait, and
 * requests with a longer time limit from all others: neither takes what others need.
 */
export function requestShares(
  { caller, source }: RequestOrigin,
  { hasBody, isLong }: { readonly hasBody: boolean; readonly isLong: boolean },
  limits: ListenerLimits,
): Share[] {
  if (!caller) {
    const { unidentified: most, unidentified_per_source } = limits
    const pool = hasBody ? 'unidentified bodies' : 'unidentified requests'
    return splitPool(pool, most, { address: [source, unidentified_per_source] })
  }
  if (isLong)
    return splitPool('long requests', limits.long_requests, {
      caller: [callerKey(caller), limits.long_requests_per_caller],
      address: [source, limits.long_requests_per_source],
    })
  return splitPool('requests', limits.in_flight, {
    caller: [callerKey(caller), limits.in_flight_per_caller],
    address: [source, limits.in_flight_per_source],
  })
}

export function streamShares({ caller, source }: RequestOrigin, limits: ListenerLimits): Share[] {
  return splitPool('streams', limits.streams, {
    caller: [caller && callerKey(caller), limits.streams_per_caller],
    address: [source, limits.streams_per_source],
  })
}

/** Memory for a body that is larger than those that every request may send; none otherwise. */
export function largeBodyShares({ caller }: RequestOrigin, limits: ListenerLimits): Share[] {
  return splitPool('bytes of large bodies', limits.large_bodies_bytes, {
    caller: [caller && callerKey(caller), limits.large_bodies_bytes_per_caller],
  })
}

export function unreadAnswerShares({ caller, source }: RequestOrigin, limits: ListenerLimits): Share[] {
  return splitPool('bytes of unread answers', limits.unread_bytes, {
    caller: [caller ? callerKey(caller) : source, limits.unread_bytes_per_caller],
  })
}

type PoolParts = Readonly<Partial<Record<'caller' | 'address', readonly [key: string | undefined, most: number]>>>

/** The pool first: when it is full, no caller is to blame. */
function splitPool(pool: string, most: number, parts: PoolParts): Share[] {
  const shares: Share[] = [{ name: pool, most }]
  for (const owner of ['caller', 'address'] as const) {
    const [key, most_of_one = 0] = parts[owner] ?? []
    if (key !== undefined) shares.push({ name: `${pool} of ${owner} ${key}`, most: most_of_one, of: owner })
  }
  return shares
}

function callerKey({ tenant_id, subject }: Caller): string {
  return JSON.stringify([tenant_id, subject])
}

/** The refusal of a request for which too little of the share is left. `unit`: what there are too many of. */
export function refuseShare({ of, most }: Share, unit: string, retry_after_s: number): Refusal {
  if (!of) return new Refusal('unavailable', `the service has too many ${unit}`, [], retry_after_s)
  return new Refusal('rate_limited', `this ${of} has ${most} ${unit}, which is the most`, [], retry_after_s)
}
