// What two sites say to each other over HTTPS: a batch of parcels, and what became of each.
import * as z from 'zod'
import type { Landing, Parcel } from '../../../daemon/kernel/carrier.ts'

export const path = '/federation/v1/parcels'
export const content_type = 'application/json'

export const most_parcels = 64
/** A sender puts no more than this into one request, unless it is a single parcel; a receiver takes this much whatever its limits. */
export const batch_bytes = 1_048_576
const overhead_bytes = 16_384

export const most_answer_bytes = 16_384

/** The one way to write the bytes: what decodes to the same by leniency is not taken. */
const exactBytes = z.string().transform((text, context) => {
  const bytes = Buffer.from(text, 'base64')
  if (bytes.toString('base64') === text) return bytes
  context.addIssue('must be base64')
  return z.NEVER
})

const landings = ['landed', 'in_the_way', 'full', 'too_large'] as const satisfies readonly Landing[]

const batch = z.strictObject({
  parcels: z
    .array(
      z.strictObject({
        epoch: z.int().min(1).max(99_999_999),
        seq: z.int().min(1).max(Number.MAX_SAFE_INTEGER),
        envelope: exactBytes,
        body: exactBytes,
      }),
    )
    .max(most_parcels),
})
const answer = z.strictObject({ landings: z.array(z.enum(landings)).max(most_parcels) })

export function batchText(parcels: readonly Parcel[]): string {
  const written = parcels.map(({ epoch, seq, envelope, body }) => ({
    epoch,
    seq,
    envelope: Buffer.from(envelope).toString('base64'),
    body: Buffer.from(body).toString('base64'),
  }))
  return JSON.stringify({ parcels: written })
}

/** Undefined for what is no batch. */
export function parcelsIn(bytes: Buffer): readonly Parcel[] | undefined {
  return batch.safeParse(jsonOf(bytes)).data?.parcels
}

/** Undefined for what is no answer to so many parcels. */
export function landingsIn(bytes: Buffer, parcels: number): readonly Landing[] | undefined {
  const found = answer.safeParse(jsonOf(bytes)).data?.landings
  return found?.length === parcels ? found : undefined
}

/** Bytes of the largest request that a site with these limits reads. */
export function mostRequestBytes(limits: { max_envelope_bytes: number; max_body_bytes: number }): number {
  const largest = Math.max(batch_bytes, limits.max_envelope_bytes + limits.max_body_bytes)
  return Math.ceil(largest / 3) * 4 + overhead_bytes
}

/** Groups that each make one request, in order. */
export function inRequests(parcels: readonly Parcel[]): Parcel[][] {
  const groups: Parcel[][] = []
  let size = 0
  for (const parcel of parcels) {
    const own = parcel.envelope.length + parcel.body.length
    const last = groups.at(-1)
    if (last && last.length < most_parcels && size + own <= batch_bytes) {
      last.push(parcel)
      size += own
    } else {
      groups.push([parcel])
      size = own
    }
  }
  return groups
}

function jsonOf(bytes: Buffer): unknown {
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes))
  } catch {
    return undefined
  }
}
