// One request to the identity provider: in full within a time and a size, over TLS unless it is on this machine.
import * as http from 'node:http'
import * as https from 'node:https'
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
export function requestJson(
  url: string,
  { ca, isVerified }: ProviderTlsOptions,
  form?: Readonly<Record<string, string>>,
  authorization?: string,
): Promise<{ readonly status: number; readonly body: unknown }> {
  if (!isAllowedProviderUrl(url)) return Promise.reject(new Error('the URL is neither https nor on this machine'))
  const text = form && new URLSearchParams(form).toString()
  const options: https.RequestOptions = {
    method: form ? 'POST' : 'GET',
    headers: {
      accept: 'application/json',
      ...(text === undefined
        ? {}
        : { 'content-type': 'application/x-www-form-urlencoded', 'content-length': Buffer.byteLength(text) }),
      ...(authorization === undefined ? {} : { authorization }),
    },
    agent: false,
    rejectUnauthorized: isVerified,
    ...(ca === undefined ? {} : { ca }),
  }
  return new Promise((resolve, reject) => {
    const open = url.startsWith('https:') ? https.request : http.request
    const request = open(url, options, (answer) => {
      readJsonBody(answer, request).then((body) => resolve({ status: answer.statusCode ?? 0, body }), reject)
    })
    // For the whole exchange: an answer that drips must not hold up whoever waits for it.
    const limit = setTimeout(() => request.destroy(new Error('no answer in time')), timeout_ms)
    request.on('error', (error: NodeJS.ErrnoException) => reject(new Error(error.code ?? error.message)))
    request.on('close', () => clearTimeout(limit))
    request.end(text)
  })
}

async function readJsonBody(answer: http.IncomingMessage, request: http.ClientRequest): Promise<unknown> {
  const parts: Buffer[] = []
  let length = 0
  for await (const part of answer) {
    length += (part as Buffer).length
    if (length > max_response_bytes) {
      request.destroy()
      throw new Error('the answer is too large')
    }
    parts.push(part as Buffer)
  }
  try {
    return JSON.parse(Buffer.concat(parts).toString('utf8'))
  } catch {
    throw new Error(`the answer ${answer.statusCode} is no JSON`)
  }
}
