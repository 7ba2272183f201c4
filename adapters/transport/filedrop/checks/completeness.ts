// Whether a message has come whole: by its own declaration, never by the time of its files.
import * as z from 'zod'
import { type Dropped, type Path, readDropped } from './dropped-file.ts'
import type { Specimen } from './specimen.ts'
import { type StrictJson, strictJson } from './strict-json.ts'

const jws = z.object({ payload: z.string() })
const said = z.object({ kind: z.string(), body: z.object({ length: z.int().min(0) }) })

/** What an envelope claims, unverified. Nothing here is believed: whatever is wrong is left to the checks. */
export type Claims = { readonly envelope_json?: StrictJson; readonly kind?: string; readonly length?: number }

export function claimsOf(envelope: Dropped): Claims {
  if (!('bytes' in envelope)) return {}
  const envelope_json = strictJson(envelope.bytes)
  const payload = envelope_json.outcome === 'value' ? jws.safeParse(envelope_json.value).data?.payload : undefined
  const claimed = payload === undefined ? undefined : said.safeParse(jsonIn(payload)).data
  return { envelope_json, ...(claimed ? { kind: claimed.kind, length: claimed.body.length } : {}) }
}

/** Undefined while the envelope does not end its JSON or the body is shorter than the envelope says. */
export function readIfComplete(
  name: string,
  paths: { readonly env: Path; readonly body: Path },
  limits: { readonly max_envelope_bytes: number; readonly max_body_bytes: number },
): Specimen | undefined {
  const envelope = readDropped(paths.env, limits.max_envelope_bytes)
  const claims = claimsOf(envelope)
  if (claims.envelope_json?.outcome === 'incomplete') return undefined
  const body = readDropped(paths.body, limits.max_body_bytes)
  const { length = 0 } = claims
  if (length <= limits.max_body_bytes && 'bytes' in body && body.bytes.length < length) return undefined
  return { name, envelope, body, claims }
}

function jsonIn(payload: string): unknown {
  try {
    return JSON.parse(Buffer.from(payload, 'base64url').toString('utf8'))
  } catch {
    return undefined
  }
}
