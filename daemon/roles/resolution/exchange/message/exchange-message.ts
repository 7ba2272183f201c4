// The messages between sites in an exchange: the data of the message kind `resolution`.
import * as z from 'zod'
import { label } from '../../../../kernel/label/label.ts'
import { shortText } from '../../fields.ts'
import { exchangeAgreement, exchangeId, sha256Hex } from '../agreement/agreement.ts'
import { exchangeRound } from '../model.ts'
import { max_value_characters } from '../piece/cut-pieces.ts'

export const exchange_message_schema = 'resolution.exchange/1'

/** A point of Curve25519. */
const publicKey = z.string().regex(/^[A-Za-z0-9_-]{43}$/)
const setSize = z.int().min(0).max(1_000_000)
const exchangeRefFields = { exchange_id: exchangeId, agreement_digest: sha256Hex }

export const max_end_reason_length = 1_024

export const exchangeMessage = z.discriminatedUnion('say', [
  z.strictObject({
    say: z.literal('proposal'),
    agreement: exchangeAgreement,
    classification: label,
    size: setSize,
    key: publicKey.optional(),
  }),
  z.strictObject({ say: z.literal('agreed'), ...exchangeRefFields, size: setSize, key: publicKey.optional() }),
  z.strictObject({
    say: z.literal('piece'),
    ...exchangeRefFields,
    round: exchangeRound,
    number: z.int().min(0).max(100_000),
    of: z.int().min(1).max(100_000),
    items: z.int().min(0).max(100_000_000),
    /** Base64url of items of equal width. */
    data: z
      .string()
      .max(2_800_000)
      .regex(/^[A-Za-z0-9_-]*$/)
      .optional(),
    /** Rows of records: the id, then the agreed fields in order. */
    rows: z
      .array(z.array(z.string().max(max_value_characters)).min(2).max(15))
      .max(100_000)
      .optional(),
  }),
  z.strictObject({
    say: z.literal('ended'),
    ...exchangeRefFields,
    code: shortText,
    reason: z.string().max(max_end_reason_length),
  }),
])
export type ExchangeMessage = z.infer<typeof exchangeMessage>
export type PieceMessage = Extract<ExchangeMessage, { say: 'piece' }>
