// Requests that are not forwarded whatever their route.
import type { Exchange } from './exchange.ts'
import { findMethodFault, isForwardedPath } from './request-line.ts'

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
