// Failures of requests to other services: those that end a connection, allow another try, or count against the service.
import { isRefusal, Refusal } from '../../kernel/error/errors.ts'

/** The session is unknown to a service that has started again, and the connection is of no use. */
export function isBroken(error: unknown): boolean {
  return isRefusal(error) && ['not_found', 'unavailable', 'unauthenticated'].includes(error.code)
}

/** A request of an unknown session was not performed. Of one that broke off, nobody knows. */
export function mayRepeat(error: unknown, { isRead }: { readonly isRead: boolean }): boolean {
  return isRefusal(error) && (error.code === 'not_found' || (isRead && error.code === 'unavailable'))
}

/** Of the service, and not of the request. */
export function isFailure(error: unknown): boolean {
  return !isRefusal(error) || ['unavailable', 'timeout', 'not_found'].includes(error.code)
}

export function refuseSpared(service: string, wait_ms: number): Refusal {
  const wait_s = Math.ceil(wait_ms / 1_000)
  return new Refusal(
    'unavailable',
    `${service} has failed several times, and is tried again in ${wait_s} s`,
    [],
    wait_s,
  )
}
