// Sends one request to a service of the profile, and reads its answer: bounded in time and size, without redirects.
import { RowSourceError } from '../../../daemon/shared/row-source/row-source.ts'
import type { AddressRule } from '../../platform/address-rule/address-rule.ts'
import { HttpClient } from '../../platform/http-client/http-client.ts'
import { HttpClientError } from '../../platform/http-client/http-client-error.ts'

export type ServiceAccess = {
  /** The Authorization header. */
  readonly authorization?: string | undefined
  /** Authorities in PEM instead of the machine's. */
  readonly ca?: string | undefined
  readonly rule: AddressRule
  readonly max_bytes: number
  /** From the request to the last byte. */
  readonly timeout_ms: number
}

export type ServiceRequest = {
  readonly method: string
  readonly headers: Readonly<Record<string, string>>
  readonly body?: string | undefined
}

export type ServiceAnswer = {
  readonly status: number
  /** As the service states it, without parameters, in lower case. */
  readonly media_type: string | undefined
  readonly body: Buffer
}

/** Of any status. Throws `RowSourceError` without an address, and the reason of the signal. */
export async function requestAnswer(
  url: URL,
  { method, headers, body }: ServiceRequest,
  { authorization, ca, rule, max_bytes, timeout_ms }: ServiceAccess,
  signal: AbortSignal,
): Promise<ServiceAnswer> {
  const client = new HttpClient({ rule, ca, connect_timeout_ms: Math.min(10_000, timeout_ms) })
  const sent = {
    ...headers,
    // Its size is that of the body which is captured.
    'accept-encoding': 'identity',
    ...(authorization === undefined ? {} : { authorization }),
  }
  try {
    const response = await client.send(url, { method, headers: sent, body, signal, limits: { total_ms: timeout_ms } })
    const media_type = response.header('content-type')?.split(';')[0]?.trim().toLowerCase()
    return { status: response.status, media_type, body: await response.readBytes(max_bytes) }
  } catch (error) {
    signal.throwIfAborted()
    throw error instanceof HttpClientError ? describeFailure(error, max_bytes, timeout_ms) : error
  } finally {
    client.close()
  }
}

/** Whether a name leads inside stays unknown to strangers: the address is left out. */
function describeFailure({ failure, code }: HttpClientError, max_bytes: number, timeout_ms: number): RowSourceError {
  if (failure === 'address') return new RowSourceError('the profile does not permit the address of the service')
  if (failure === 'too_large') return new RowSourceError(`the answer has more than ${max_bytes} bytes`)
  if (failure === 'timeout' || failure === 'idle')
    return new RowSourceError(`the service did not answer within ${timeout_ms / 1_000} s`, false)
  if (failure === 'broken_off') return new RowSourceError('the answer of the service broke off', false)
  return new RowSourceError(`the service did not answer (${code ?? failure})`, false)
}
