// One request to the identity provider: in full within a time and a size, over TLS unless it is on this machine.
import { HttpClient } from '../../http-client/undici/http-client.ts'
import { HttpClientError } from '../../http-client/undici/http-client-error.ts'
import type { HttpResponse } from '../../http-client/undici/http-response.ts'
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
 * GET, or POST of a form. Redirects are not followed. Throws an Error that says what is wrong, without what was sent or
 * answered.
 */
export async function requestJson(
  url: string,
  { ca, isVerified }: ProviderTlsOptions,
  form?: Readonly<Record<string, string>>,
  authorization?: string,
): Promise<{ readonly status: number; readonly body: unknown }> {
  if (!isAllowedProviderUrl(url)) throw new Error('the URL is neither https nor on this machine')
  const headers = {
    accept: 'application/json',
    ...(form ? { 'content-type': 'application/x-www-form-urlencoded' } : {}),
    ...(authorization === undefined ? {} : { authorization }),
  }
  const body = form && new URLSearchParams(form).toString()
  // The limit is for the whole exchange: a response that drips must not hold up whoever waits for it.
  const request = { method: form ? 'POST' : 'GET', headers, body, limits: { total_ms: timeout_ms } }
  try {
    const response = await new HttpClient({ ca, isVerified }).send(url, request)
    return { status: response.status, body: parseJson(await response.readBytes(max_response_bytes), response) }
  } catch (error) {
    throw explainFailure(error as Error)
  }
}

function parseJson(bytes: Buffer, { status }: HttpResponse): unknown {
  try {
    return JSON.parse(bytes.toString('utf8'))
  } catch {
    throw new Error(`the answer ${status} is no JSON`)
  }
}

/** Without what was sent or received; other errors as they are. */
function explainFailure(error: Error): Error {
  if (!(error instanceof HttpClientError)) return error
  if (error.failure === 'timeout') return new Error('no answer in time')
  if (error.failure === 'too_large') return new Error('the answer is too large')
  return new Error(error.code ?? error.message)
}
