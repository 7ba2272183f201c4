// Reads the service-info of a service over HTTP: bounded in time and size, without redirects, at addresses that the rule permits.
import type { AddressRule } from '../../platform/address-rule/address-rule.ts'
import type { AddressResolver } from '../../platform/address-rule/checked-lookup.ts'
import { HttpClient } from '../../platform/http-client/http-client.ts'
import { HttpClientError } from '../../platform/http-client/http-client-error.ts'

/** From the first byte sent to the last byte of the answer. */
const timeout_ms = 5_000
const max_bytes = 262_144

export type ServiceInfoReaderOptions = {
  readonly rule: AddressRule
  /** The system's, outside tests. */
  readonly resolve?: AddressResolver
  /** Authorities in PEM instead of the machine's. */
  readonly ca?: string | undefined
  /** The value of untrusted JSON, within limits; throws, or gives undefined, for anything else. */
  readonly parse: (bytes: Buffer) => unknown
}

type Fault = {
  readonly fault: 'url_not_allowed' | 'service_unreachable' | 'service_info_invalid'
  readonly reason: string
}

/** Throws only the reason of the signal. */
export function serviceInfoReader({ rule, resolve, ca, parse }: ServiceInfoReaderOptions) {
  // Of many seconds between two requests, none needs a connection.
  const client = new HttpClient({ rule, resolve, ca, connect_timeout_ms: timeout_ms })
  return async (url: string, signal: AbortSignal): Promise<{ readonly value: unknown } | Fault> => {
    try {
      const headers = { accept: 'application/json', 'accept-encoding': 'identity' }
      const response = await client.send(`${url}/service-info`, {
        ...{ method: 'GET', headers, signal, limits: { total_ms: timeout_ms } },
      })
      if (response.status !== 200) {
        response.destroy()
        return { fault: 'service_unreachable', reason: `it answered ${response.status} to GET /service-info` }
      }
      const value = parse(await response.readBytes(max_bytes))
      if (value === undefined) return { fault: 'service_info_invalid', reason: 'its service-info is not sound JSON' }
      return { value }
    } catch (error) {
      signal.throwIfAborted()
      if (error instanceof HttpClientError) return describeFailure(error)
      throw error
    }
  }
}

/** Where a name leads inside stays unknown to strangers: the address is left out. */
function describeFailure({ failure, code }: HttpClientError): Fault {
  if (failure === 'address')
    return { fault: 'url_not_allowed', reason: 'its address is in no network of ingress.registered_networks' }
  if (failure === 'too_large')
    return { fault: 'service_info_invalid', reason: `its service-info has more than ${max_bytes} bytes` }
  if (failure === 'timeout' || failure === 'idle')
    return { fault: 'service_unreachable', reason: `it did not answer within ${timeout_ms / 1_000} s` }
  return { fault: 'service_unreachable', reason: `it did not answer (${code ?? failure})` }
}
