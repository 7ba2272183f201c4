// The wire format between two sites over HTTPS: a batch of parcels, and the outcome of each.

import * as z from 'zod'
import { parseJsonAs } from '../../../daemon/kernel/encoding/parse-json.ts'
import type { CarriedMessage, CarryOutcome } from '../../../daemon/kernel/messaging/carrier.ts'

export const parcels_path = '/federation/v1/parcels'
export const content_type = 'application/json'

const max_batch_parcels = 64
/** A sender puts at most this into one request, unless it is a single parcel; a receiver accepts this much whatever its limits. */
export const max_batch_bytes = 1_048_576
const overhead_bytes = 16_384

export const max_response_bytes = 16_384

/** The one way to write the bytes: what decodes to the same by leniency is not taken. */
const canonicalBase64 = z.string().transform((text, context) => {
  const bytes = Buffer.from(text, 'base64')
  if (bytes.toString('base64') === text) return bytes
  context.addIssue('must be base64')
  return z.NEVER
})

const landings = ['landed', 'in_the_way', 'full', 'too_large'] as const satisfies readonly CarryOutcome[]

const parcelBatch = z.strictObject({
  parcels: z
    .array(
      z.strictObject({
        epoch: z.int().min(1).max(99_999_999),
        seq: z.int().min(1).max(Number.MAX_SAFE_INTEGER),
        envelope: canonicalBase64,
        body: canonicalBase64,
      }),
    )
    .max(max_batch_parcels),
})
const batchResponse = z.strictObject({ landings: z.array(z.enum(landings)).max(max_batch_parcels) })

export function encodeBatch(parcels: readonly CarriedMessage[]): string {
  const written = parcels.map(({ epoch, seq, envelope, body }) => ({
    epoch,
    seq,
    envelope: Buffer.from(envelope).toString('base64'),
    body: Buffer.from(body).toString('base64'),
  }))
  return JSON.stringify({ parcels: written })
}

/** Undefined for bytes that are not a batch. */
export function decodeBatch(bytes: Buffer): readonly CarriedMessage[] | undefined {
  return parseJsonAs(parcelBatch, bytes)?.parcels
}

/** Undefined for bytes that are not an answer to so many parcels. */
export function decodeLandings(bytes: Buffer, parcels: number): readonly CarryOutcome[] | undefined {
  const found = parseJsonAs(batchResponse, bytes)?.landings
  return found?.length === parcels ? found : undefined
}

/** Bytes of the largest request that a site with these limits reads. */
export function maxRequestBytes(limits: { max_envelope_bytes: number; max_body_bytes: number }): number {
  const largest = Math.max(max_batch_bytes, limits.max_envelope_bytes + limits.max_body_bytes)
  return Math.ceil(largest / 3) * 4 + overhead_bytes
}

/** Groups that each make one request, in order. */
export function splitIntoRequests(parcels: readonly CarriedMessage[]): CarriedMessage[][] {
  const groups: CarriedMessage[][] = []
  let size = 0
  for (const parcel of parcels) {
    const own = parcel.envelope.length + parcel.body.length
    const last = groups.at(-1)
    if (last && last.length < max_batch_parcels && size + own <= max_batch_bytes) {
      last.push(parcel)
      size += own
    } else {
      groups.push([parcel])
      size = own
    }
  }
  return groups
}
