// Sends one request to the identity provider: limited in time and size, over TLS unless it is on this machine.
import { parseJson } from '../../../daemon/kernel/encoding/parse-json.ts'
import { anyAddress } from '../../platform/address-rule/address-rule.ts'
import { HttpClient } from '../../platform/http-client/http-client.ts'
import { HttpClientError } from '../../platform/http-client/http-client-error.ts'
import type { HttpResponse } from '../../platform/http-client/http-response.ts'
import { isAllowedProviderUrl } from './url-rules.ts'

export type ProviderTlsOptions = {
  /** Authorities in PEM instead of the machine's. */
  readonly ca?: string | undefined
  /** False takes any certificate. */
  readonly isVerified: boolean
}

const timeout_ms = 5_000
const max_response_bytes = 512 * 1_024

/**
 * GET, or POST of a form. Redirects are not followed. Throws an Error with the cause, without content of the request or
 * the response.
 */
export async function requestJson(
  url: string,
  { ca, isVerified }: ProviderTlsOptions,
  form?: Readonly<Record<string, string>>,
  authorization?: string,
): Promise<{ readonly status: number; readonly body: unknown }> {
  if (!isAllowedProviderUrl(url)) throw new Error('the URL is neither https nor loopback')
  const headers = {
    accept: 'application/json',
    ...(form ? { 'content-type': 'application/x-www-form-urlencoded' } : {}),
    ...(authorization === undefined ? {} : { authorization }),
  }
  const body = form && new URLSearchParams(form).toString()
  // The limit is for the whole exchange, so that a response that drips does not hold up the caller.
  const request = { method: form ? 'POST' : 'GET', headers, body, limits: { total_ms: timeout_ms } }
  try {
    const response = await new HttpClient({ rule: anyAddress, ca, isVerified }).send(url, request)
    return { status: response.status, body: parseBody(await response.readBytes(max_response_bytes), response) }
  } catch (error) {
    throw explainFailure(error as Error)
  }
}

/** Keys among it decide whom the site believes, so it must have one meaning. */
function parseBody(bytes: Buffer, { status }: HttpResponse): unknown {
  const body = parseJson(bytes)
  if (body === undefined) throw new Error(`the response with status ${status} is not JSON, or names a key twice`)
  return body
}

/** Without content of the request or the response; other errors are unchanged. */
function explainFailure(error: Error): Error {
  if (!(error instanceof HttpClientError)) return error
  if (error.failure === 'timeout') return new Error(`no response within ${timeout_ms} ms`)
  if (error.failure === 'too_large') return new Error(`the response is larger than ${max_response_bytes} bytes`)
  return new Error(error.code ?? error.message)
}
