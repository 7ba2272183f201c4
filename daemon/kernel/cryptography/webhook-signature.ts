// How a webhook is signed: by HMAC-SHA256 over time and body, in this platform's header or in those of Standard Webhooks.
import { createHmac, timingSafeEqual } from 'node:crypto'

/** Of this platform: `t=<unix seconds>,v1=<hex>`, the HMAC over `<t>.<body>` under the bytes of the secret's text. */
export const platformHeader = 'x-platform-signature'

export function platformSignature(secret: string, at_s: number, body: Uint8Array | string): string {
  return `t=${at_s},v1=${hmac(secret, [`${at_s}.`, body]).toString('hex')}`
}

/**
 * Of Standard Webhooks (standardwebhooks.com, 1.0): `v1,<base64>`, the HMAC over `<id>.<t>.<body>`. A secret that begins with
 * `whsec_` is base64 behind that.
 */
export function standardSignature(secret: string, id: string, at_s: number, body: Uint8Array | string): string {
  const key = secret.startsWith('whsec_') ? Buffer.from(secret.slice('whsec_'.length), 'base64') : secret
  return `v1,${hmac(key, [`${id}.${at_s}.`, body]).toString('base64')}`
}

/** `delivery_id`: the sender's, where it is part of what was signed. */
export type VerifiedWebhook = { readonly at_s: number; readonly delivery_id: string | undefined }

/**
 * What is signed, by one of the secrets; undefined for anything else. How long ago that was is for the caller to judge. All
 * secrets are tried in constant time.
 */
export function verifyWebhookSignature(
  secrets: readonly string[],
  headers: Readonly<Record<string, string>>,
  body: Uint8Array,
): VerifiedWebhook | undefined {
  const own = headers[platformHeader]
  return own === undefined
    ? verifyStandardSignature(secrets, headers, body)
    : verifyPlatformSignature(secrets, own, body)
}

function verifyPlatformSignature(
  secrets: readonly string[],
  header: string,
  body: Uint8Array,
): VerifiedWebhook | undefined {
  const seconds = /^t=([1-9]\d{0,11}),v1=[0-9a-f]{64}$/.exec(header)?.[1]
  if (seconds === undefined) return undefined
  const at_s = Number(seconds)
  const wanted = secrets.map((secret) => platformSignature(secret, at_s, body))
  return includesInConstantTime([header], wanted) ? { at_s, delivery_id: undefined } : undefined
}

/** A sender that changes its secret sends several signatures; others than `v1` are of public keys, which nobody has given. */
function verifyStandardSignature(
  secrets: readonly string[],
  headers: Readonly<Record<string, string>>,
  body: Uint8Array,
): VerifiedWebhook | undefined {
  const { 'webhook-id': id = '', 'webhook-timestamp': time = '', 'webhook-signature': given = '' } = headers
  // A dot would let one id and time be read as others.
  if (!/^[!-\-/-~]{1,255}$/.test(id) || !/^[1-9]\d{0,11}$/.test(time)) return undefined
  const at_s = Number(time)
  const wanted = secrets.map((secret) => standardSignature(secret, id, at_s, body))
  return includesInConstantTime(given.split(' ').slice(0, 8), wanted) ? { at_s, delivery_id: id } : undefined
}

function includesInConstantTime(given: readonly string[], wanted: readonly string[]): boolean {
  let found = false
  for (const one of given) for (const other of wanted) found = equalsInConstantTime(one, other) || found
  return found
}

function equalsInConstantTime(one: string, other: string): boolean {
  const [a, b] = [Buffer.from(one), Buffer.from(other)]
  return a.length === b.length && timingSafeEqual(a, b)
}

function hmac(key: string | Buffer, parts: readonly (Uint8Array | string)[]): Buffer {
  const made = createHmac('sha256', key)
  for (const part of parts) made.update(part)
  return made.digest()
}
