// What sites say to each other in an exchange, as the data of messages of kind `resolution`.
import * as z from 'zod'
import { label } from '../../../kernel/label.ts'
import { word } from '../fields.ts'
import { agreement, exchangeId } from './agreement.ts'
import { most_letters } from './cutting.ts'
import { round } from './model.ts'

export const schema = 'resolution.exchange/1'

const digest = z.string().regex(/^[0-9a-f]{64}$/)
/** A point of Curve25519. */
const publicKey = z.string().regex(/^[A-Za-z0-9_-]{43}$/)
const size = z.int().min(0).max(1_000_000)
const about = { exchange_id: exchangeId, agreement_digest: digest }

export const sent = z.discriminatedUnion('say', [
  z.strictObject({
    say: z.literal('proposal'),
    agreement,
    classification: label,
    size,
    key: publicKey.optional(),
  }),
  z.strictObject({ say: z.literal('agreed'), ...about, size, key: publicKey.optional() }),
  z.strictObject({
    say: z.literal('piece'),
    ...about,
    round,
    number: z.int().min(0).max(100_000),
    of: z.int().min(1).max(100_000),
    items: z.int().min(0).max(100_000_000),
    /** Base64url of items of equal width. */
    data: z
      .string()
      .max(2_800_000)
      .regex(/^[A-Za-z0-9_-]*$/)
      .optional(),
    /** Of records: their id and the agreed fields, in this order. */
    rows: z
      .array(z.array(z.string().max(most_letters)).min(2).max(15))
      .max(100_000)
      .optional(),
  }),
  z.strictObject({ say: z.literal('ended'), ...about, code: word, reason: z.string().max(1_024) }),
])
export type Sent = z.infer<typeof sent>
export type SentPiece = Extract<Sent, { say: 'piece' }>
