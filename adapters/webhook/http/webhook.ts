// Posts JSON to a configured address, signed so that the receiver can tell it from a forgery.
import { createHmac } from 'node:crypto'
import { readFileSync } from 'node:fs'
import * as http from 'node:http'
import * as https from 'node:https'
import { Refused } from '../../../daemon/kernel/errors.ts'

const timeout_ms = 10_000

/**
 * POSTs `body` with `X-Platform-Signature: t=<unix seconds>,v1=<hex>`, where v1 is HMAC-SHA256 under the secret in the
 * file over `<t>.<body>`. Resolves on 2xx; anything else is `Refused('unavailable')`, to be tried again. Redirects are not followed.
 */
export async function postWebhook(url: string, secret_file: string, body: unknown, now_ms: number): Promise<void> {
  const text = JSON.stringify(body)
  const at = Math.floor(now_ms / 1_000)
  const seal = createHmac('sha256', secretIn(secret_file)).update(`${at}.${text}`).digest('hex')
  const headers = {
    'content-type': 'application/json',
    'content-length': Buffer.byteLength(text),
    'x-platform-signature': `t=${at},v1=${seal}`,
  }
  const status = await new Promise<number>((resolve, reject) => {
    const open = url.startsWith('https:') ? https.request : http.request
    const request = open(url, { method: 'POST', headers, timeout: timeout_ms, agent: false }, (answer) => {
      answer.resume()
      answer.on('end', () => resolve(answer.statusCode ?? 0))
      answer.on('error', reject)
    })
    request.on('timeout', () => request.destroy(new Error('timeout')))
    request.on('error', (error) =>
      reject(new Refused('unavailable', `the webhook cannot be reached: ${error.message}`)),
    )
    request.end(text)
  })
  if (status < 200 || status > 299) throw new Refused('unavailable', `the webhook answered ${status}`)
}

function secretIn(file: string): string {
  try {
    return readFileSync(file, 'utf8').trim()
  } catch {
    throw new Refused('unavailable', 'the webhook’s secret file cannot be read')
  }
}
