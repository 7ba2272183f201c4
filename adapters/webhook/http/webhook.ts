// Posts JSON to a configured address, signed so that the receiver can detect a forgery.
import { platformHeader, platformSignature } from '../../../daemon/kernel/cryptography/webhook-signature.ts'
import { Refusal } from '../../../daemon/kernel/error/errors.ts'
import type { WebhookEndpoint } from '../../../daemon/kernel/network/webhook.ts'
import type { Call } from '../../../daemon/kernel/operation/call.ts'
import { traceHeaders } from '../../../daemon/kernel/telemetry/trace.ts'
import { anyAddress } from '../../platform/address-rule/address-rule.ts'
import { HttpClient, type HttpRequest } from '../../platform/http-client/http-client.ts'
import type { HttpClientError } from '../../platform/http-client/http-client-error.ts'
import { readSecretFile, SecretFileError } from '../../platform/secret-file/read-secret-file.ts'

/** From the first byte sent to the status. */
const default_timeout_ms = 10_000

/** The operator names the URLs, in the profile. */
const client = new HttpClient({ rule: anyAddress })

type WebhookRequest = Pick<HttpRequest, 'headers' | 'body' | 'signal'>

/**
 * POSTs `body` with `X-Platform-Signature: t=<unix seconds>,v1=<hex>`, where v1 is HMAC-SHA256 under the secret in the
 * file over `<t>.<body>`, and with the headers of the call's trace. Resolves on 2xx; anything else, the end of the call
 * included, throws `Refusal('unavailable')`, which is retryable. Redirects are not followed.
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
    [platformHeader]: platformSignature(readSecret(secret_file), at, text),
    ...traceHeaders(trace),
  }
  const status = await postForStatus(url, { headers, signal, body: text }, limit_ms)
  if (status < 200 || status > 299) throw new Refusal('unavailable', `the webhook answered ${status}`)
}

/** The limit is for the whole exchange: a receiver that drips its response must not hold the sender for longer. */
async function postForStatus(url: string, request: WebhookRequest, limit_ms: number): Promise<number> {
  try {
    const response = await client.send(url, { method: 'POST', ...request, limits: { total_ms: limit_ms } })
    // Only the status counts: the body is not waited for, and may break off.
    response.drain()
    return response.status
  } catch (error) {
    throw new Refusal(
      'unavailable',
      `the webhook cannot be reached: ${explainFailure(error as HttpClientError, limit_ms)}`,
    )
  }
}

function explainFailure({ failure, message }: HttpClientError, limit_ms: number): string {
  if (failure === 'timeout') return `it did not answer within ${limit_ms} ms`
  return failure === 'aborted' ? 'the service is stopping' : message
}

/** Refuses an empty secret, with which anyone could forge a signature. */
function readSecret(file: string): string {
  const secret = readSecretText(file).trim()
  if (secret === '') throw new Refusal('unavailable', 'the webhook’s secret file is empty')
  return secret
}

function readSecretText(file: string): string {
  try {
    return readSecretFile(file)
  } catch (error) {
    if (!(error instanceof SecretFileError)) throw error
    throw new Refusal('unavailable', `the webhook’s secret file ${error.reason}`)
  }
}
