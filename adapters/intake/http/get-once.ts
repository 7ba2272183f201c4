// One GET with a limit to its time and its size; redirects are not followed.
import { type Refusal, refuse } from '../../../daemon/kernel/error/errors.ts'
import { anyAddress } from '../../platform/address-rule/address-rule.ts'
import { HttpClient } from '../../platform/http-client/http-client.ts'
import type { HttpClientError } from '../../platform/http-client/http-client-error.ts'

export const max_response_bytes = 4 * 1_048_576

export type HttpSourceResponse = {
  readonly status: number
  readonly etag: string | undefined
  readonly bytes: Uint8Array
}

export type HttpSourceRequest = {
  readonly headers: Readonly<Record<string, string>>
  readonly ca: string | undefined
  readonly signal: AbortSignal
  readonly timeout_ms: number
}

/** Refuses `unavailable` without a whole response in time and size. The refusal names no address and no secret. */
export async function getOnce(
  url: URL,
  { headers, ca, signal, timeout_ms }: HttpSourceRequest,
): Promise<HttpSourceResponse | Refusal> {
  try {
    const client = new HttpClient({ rule: anyAddress, ca })
    const response = await client.send(url, { method: 'GET', headers, signal, limits: { total_ms: timeout_ms } })
    const bytes = await response.readBytes(max_response_bytes)
    return { status: response.status, etag: response.header('etag'), bytes }
  } catch (error) {
    const why = explainFailure(error as HttpClientError, timeout_ms)
    return refuse('unavailable', `the source cannot be read: ${why}`)
  }
}

function explainFailure({ failure, code }: HttpClientError, timeout_ms: number): string {
  if (failure === 'timeout') return `it did not answer within ${timeout_ms} ms`
  if (failure === 'aborted') return 'the service is stopping'
  if (failure === 'too_large') return `its answer is larger than ${max_response_bytes} bytes`
  if (failure === 'broken_off') return 'its answer broke off'
  return code ?? 'the connection broke'
}
