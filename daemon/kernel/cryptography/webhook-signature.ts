// Signatures of webhooks: HMAC-SHA256 over time and body, in this platform's header or in those of Standard Webhooks.
import { createHmac } from 'node:crypto'
import { equalsInConstantTime } from './equals-in-constant-time.ts'

/**
 * Header of this platform: `t=<unix seconds>,v1=<hex>`, the HMAC over `<t>.<body>`, keyed with the bytes of the
 * secret's text.
 */
export const platformHeader = 'x-platform-signature'

export function platformSignature(secret: string, at_s: number, body: Uint8Array | string): string {
  return `t=${at_s},v1=${hmac(secret, [`${at_s}.`, body]).toString('hex')}`
}

/**
 * Signature of Standard Webhooks (standardwebhooks.com, 1.0): `v1,<base64>`, the HMAC over `<id>.<t>.<body>`. After
 * the prefix `whsec_` a secret is base64.
 */
function standardSignature(secret: string, id: string, at_s: number, body: Uint8Array | string): string {
  const key = secret.startsWith('whsec_') ? Buffer.from(secret.slice('whsec_'.length), 'base64') : secret
  return `v1,${hmac(key, [`${id}.${at_s}.`, body]).toString('base64')}`
}

/** `delivery_id`: the id that the sender signed; undefined where it signs none. */
export type VerifiedWebhook = { readonly at_s: number; readonly delivery_id: string | undefined }

/**
 * Verifies a webhook against the secrets; undefined when no signature is valid. The caller judges the age of the
 * signature. Comparisons take constant time for all secrets.
 */
export function verifyWebhookSignature(
  secrets: readonly string[],
  headers: Readonly<Record<string, string>>,
  body: Uint8Array,
): VerifiedWebhook | undefined {
  const header = headers[platformHeader]
  return header === undefined
    ? verifyStandardSignature(secrets, headers, body)
    : verifyPlatformSignature(secrets, header, body)
}

function verifyPlatformSignature(
  secrets: readonly string[],
  header: string,
  body: Uint8Array,
): VerifiedWebhook | undefined {
  const seconds = /^t=([1-9]\d{0,11}),v1=[0-9a-f]{64}$/.exec(header)?.[1]
  if (seconds === undefined) return undefined
  const at_s = Number(seconds)
  const expected = secrets.map((secret) => platformSignature(secret, at_s, body))
  return includesInConstantTime([header], expected) ? { at_s, delivery_id: undefined } : undefined
}

/**
 * Verifies the headers of Standard Webhooks. A sender that rotates its secret sends several signatures. Versions
 * other than `v1` use public keys, which are not supported.
 */
function verifyStandardSignature(
  secrets: readonly string[],
  headers: Readonly<Record<string, string>>,
  body: Uint8Array,
): VerifiedWebhook | undefined {
  const { 'webhook-id': id = '', 'webhook-timestamp': time = '', 'webhook-signature': signatures = '' } = headers
  // A dot in the id would make the boundary between id and time ambiguous.
  if (!/^[!-\-/-~]{1,255}$/.test(id) || !/^[1-9]\d{0,11}$/.test(time)) return undefined
  const at_s = Number(time)
  const expected = secrets.map((secret) => standardSignature(secret, id, at_s, body))
  return includesInConstantTime(signatures.split(' ').slice(0, 8), expected) ? { at_s, delivery_id: id } : undefined
}

function includesInConstantTime(signatures: readonly string[], expected: readonly string[]): boolean {
  let matches = false
  for (const left of signatures) for (const right of expected) matches = equalsInConstantTime(left, right) || matches
  return matches
}

function hmac(key: string | Buffer, parts: readonly (Uint8Array | string)[]): Buffer {
  const digest = createHmac('sha256', key)
  for (const part of parts) digest.update(part)
  return digest.digest()
}
