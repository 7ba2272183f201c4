// Requests that are not forwarded whatever their route, and the statuses of replies to failures.
import type { Exchange } from './exchange.ts'
import type { ForwardFailure } from './forward-exchange.ts'
import { findMethodFault, isForwardedPath } from './request-line.ts'

/** Statuses of replies to failures. */
export const failureStatuses: Readonly<Record<ForwardFailure, number>> = {
  address: 502,
  connect: 502,
  busy: 503,
  no_member: 503,
  request: 500,
  timeout: 504,
  closed: 502,
  protocol: 502,
  too_large: 413,
  too_slow: 408,
  malformed: 400,
  gone: 499,
}

/**
 * Why an exchange may not be forwarded whatever its route: a fault of the request; a method or target that is not forwarded; a
 * body of a method that has none, which another server could take for a request.
 * @returns the status of the reply; undefined for a request that may be forwarded.
 */
export function findForwardFault({ fault, method, target, framing }: Exchange): number | undefined {
  if (fault) return fault.status
  const methodFault = findMethodFault(method)
  if (methodFault) return methodFault === 'refused' ? 405 : 501
  if (!isForwardedPath(target)) return 400
  return framing !== 0 && (method === 'GET' || method === 'HEAD') ? 400 : undefined
}
