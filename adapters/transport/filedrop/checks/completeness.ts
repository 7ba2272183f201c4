// Decides whether a message is complete by its own declaration, never by the times of its files.

import * as z from 'zod'
import { parseJsonAs } from '../../../../daemon/kernel/encoding/parse-json.ts'
import type { StrictJson } from '../../../../daemon/kernel/encoding/strict-json.ts'
import { type DroppedFile, type DroppedFilePath, readDroppedFile } from '../files/dropped-file.ts'
import type { MessageExamination } from './message-examination.ts'
import { readMessageJson } from './message-json.ts'

const envelopePayload = z.object({ payload: z.string() })
const statementClaims = z.object({ kind: z.string(), body: z.object({ length: z.int().min(0) }) })

/** Unverified claims of an envelope. Nothing here is trusted: faults are left to the checks. */
export type EnvelopeClaims = { readonly envelope_json?: StrictJson; readonly kind?: string; readonly length?: number }

export function readClaims(envelope: DroppedFile): EnvelopeClaims {
  if (!('bytes' in envelope)) return {}
  const envelope_json = readMessageJson(envelope.bytes)
  const payload =
    envelope_json.outcome === 'value' ? envelopePayload.safeParse(envelope_json.value).data?.payload : undefined
  const claimed =
    payload === undefined ? undefined : parseJsonAs(statementClaims, Buffer.from(payload, 'base64url').toString('utf8'))
  return { envelope_json, ...(claimed ? { kind: claimed.kind, length: claimed.body.length } : {}) }
}

/** Describes the missing part of a message; a body that would be too large is not waited for. Undefined when it is complete. */
export function describeMissing(
  { envelope_json, length = 0 }: EnvelopeClaims,
  body_bytes: number,
  { max_body_bytes }: { readonly max_body_bytes: number },
): string | undefined {
  if (envelope_json?.outcome === 'incomplete') return 'the envelope does not end'
  if (length > max_body_bytes || body_bytes >= length) return undefined
  return `the body has ${body_bytes} of ${length} bytes`
}

/** Undefined while the envelope does not end its JSON or the body is shorter than the envelope says. */
export function readIfComplete(
  name: string,
  paths: { readonly env: DroppedFilePath; readonly body: DroppedFilePath },
  limits: { readonly max_envelope_bytes: number; readonly max_body_bytes: number },
): MessageExamination | undefined {
  const envelope = readDroppedFile(paths.env, limits.max_envelope_bytes)
  const claims = readClaims(envelope)
  if (claims.envelope_json?.outcome === 'incomplete') return undefined
  const body = readDroppedFile(paths.body, limits.max_body_bytes)
  if ('bytes' in body && describeMissing(claims, body.bytes.length, limits)) return undefined
  return { name, envelope, body, claims }
}
