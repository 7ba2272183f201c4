// Requests at the plain listener where the first one has TLS: they are sent there, and nothing is forwarded.
import { refuse } from '../../../kernel/error/errors.ts'
import type { Exchange } from '../../../kernel/forward/exchange.ts'
import { findForwardFault } from '../../../kernel/forward/forward-fault.ts'
import { normaliseTarget } from '../../../kernel/forward/normal-target.ts'
import { type ForwardRefusal, refuseFault, refuseWith } from '../../../shared/forwarding/forward-problem.ts'
import { readHostHeader, readHostName } from '../../../shared/forwarding/route-request.ts'

/** The URL that the client should use; a method with effects was sent in plain text already, and is refused. */
export function findRedirect(exchange: Exchange, https_port: number): string | ForwardRefusal {
  const { method, target, rawHeaders } = exchange
  const fault = findForwardFault(exchange)
  if (fault !== undefined) return refuseFault(fault)
  if (method !== 'GET' && method !== 'HEAD') return refuseWith(refuse('forbidden', 'this is for https alone'))
  const normal = normaliseTarget(target, 0)
  const host = readHostName(readHostHeader(rawHeaders) ?? '')
  if ('denied' in normal || !/^([a-z0-9._-]+|\[[0-9a-f:.]+\])$/.test(host))
    return refuseWith(refuse('malformed', 'no URL of https can be made of this request'))
  return `https://${host}${https_port === 443 ? '' : `:${https_port}`}${normal.path}${normal.query}`
}
