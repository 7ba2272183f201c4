// Posts JSON to a configured address, signed so that the receiver can tell it from a forgery.
import { readFileSync } from 'node:fs'
import * as http from 'node:http'
import * as https from 'node:https'
import { platformHeader, platformSignature } from '../../../daemon/kernel/cryptography/webhook-signature.ts'
import { Refusal } from '../../../daemon/kernel/error/errors.ts'
import type { WebhookEndpoint } from '../../../daemon/kernel/network/webhook.ts'
import type { Call } from '../../../daemon/kernel/operation/call.ts'
import { traceHeaders } from '../../../daemon/kernel/telemetry/trace.ts'

/** From the first byte sent to the status. */
const default_timeout_ms = 10_000

/**
 * POSTs `body` with `X-Platform-Signature: t=<unix seconds>,v1=<hex>`, where v1 is HMAC-SHA256 under the secret in the
 * file over `<t>.<body>`, and with the headers of the call's trace. Resolves on 2xx; anything else, the end of the call
 * too, is `Refusal('unavailable')`, to be tried again. Redirects are not followed.
 */
export async function postWebhook(
  { url, secret_file }: WebhookEndpoint,
  body: unknown,
  { trace, signal }: Pick<Call, 'trace' | 'signal'>,
  now_ms: number,
  limit_ms = default_timeout_ms,
): Promise<void> {
  const text = JSON.stringify(body)
  const at = Math.floor(now_ms / 1_000)
  const headers = {
    'content-type': 'application/json',
    'content-length': Buffer.byteLength(text),
    [platformHeader]: platformSignature(readSecret(secret_file), at, text),
    ...traceHeaders(trace),
  }
  const status = await postForStatus(url, { headers, signal, text }, limit_ms)
  if (status < 200 || status > 299) throw new Refusal('unavailable', `the webhook answered ${status}`)
}

/** The limit is for the whole exchange: a receiver that drips its answer must not hold the sender for longer. */
function postForStatus(
  url: string,
  { headers, signal, text }: { headers: http.OutgoingHttpHeaders; signal: AbortSignal; text: string },
  limit_ms: number,
): Promise<number> {
  return new Promise((resolve, reject) => {
    const fail = (why: string) => reject(new Refusal('unavailable', `the webhook cannot be reached: ${why}`))
    const open = url.startsWith('https:') ? https.request : http.request
    const request = open(url, { method: 'POST', headers, agent: false }, (answer) => {
      // The status is the whole answer; what follows it is not waited for, and may break off.
      resolve(answer.statusCode ?? 0)
      answer.on('error', () => undefined)
      answer.resume()
    })
    const giveUp = (why: string) => {
      fail(why)
      request.destroy()
    }
    const limit = setTimeout(() => giveUp(`it did not answer within ${limit_ms} ms`), limit_ms)
    const stop = () => giveUp('the service is stopping')
    signal.addEventListener('abort', stop)
    if (signal.aborted) stop()
    request.on('error', (error) => fail(error.message))
    // Also comes without an error, as when the receiver wants to change the protocol.
    request.on('close', () => {
      clearTimeout(limit)
      signal.removeEventListener('abort', stop)
      fail('it closed the connection')
    })
    request.end(text)
  })
}

/** An empty secret would seal nothing: anybody could forge it. */
function readSecret(file: string): string {
  const secret = readSecretFile(file).trim()
  if (secret === '') throw new Refusal('unavailable', 'the webhook’s secret file is empty')
  return secret
}

function readSecretFile(file: string): string {
  try {
    return readFileSync(file, 'utf8')
  } catch {
    throw new Refusal('unavailable', 'the webhook’s secret file cannot be read')
  }
}
