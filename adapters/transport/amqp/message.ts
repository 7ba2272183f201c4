// Encodes a parcel as one broker message: both files byte for byte, and their number as the message id.
import * as z from 'zod'
import type { CarriedMessage } from '../../../daemon/kernel/messaging/carrier.ts'
import type { BrokerMessage } from './publisher.ts'

const parcel_message_type = 'platform.parcel.1'

/** Why a message can never be a parcel: it becomes a dead letter. */
export type DeadLetterReason = 'GARBAGE' | 'TOO_LARGE' | 'WRONG_USER'
export type DeadLetter = { readonly reason: DeadLetterReason; readonly detail: string }

/** Largest files that a parcel may hold, in bytes: file-drop judges that, and the reader keeps larger messages out. */
export type AmqpParcelLimits = { readonly envelope_bytes: number; readonly body_bytes: number }

/** Bytes before the envelope that say how long it is, highest first; the body is the rest. */
const length_prefix_bytes = 4

const parcelNumber = z
  .string()
  .regex(/^\d{8}-\d{16}$/)
  .transform((text) => ({ epoch: Number(text.slice(0, 8)), seq: Number(text.slice(9)) }))
  .refine(({ epoch, seq }) => epoch >= 1 && seq >= 1 && Number.isSafeInteger(seq))

const parcelProperties = z.object({ type: z.literal(parcel_message_type), messageId: parcelNumber })

/** `user`: this site's at the broker, which vouches for it; absent where a certificate says it. */
export function encodeParcel(
  { epoch, seq, envelope, body }: CarriedMessage,
  exchange: string,
  key: string,
  user: string | undefined,
): BrokerMessage {
  const length = Buffer.alloc(length_prefix_bytes)
  length.writeUInt32BE(envelope.byteLength)
  return {
    exchange,
    key,
    content: Buffer.concat([length, envelope, body]),
    properties: {
      type: parcel_message_type,
      messageId: `${String(epoch).padStart(8, '0')}-${String(seq).padStart(16, '0')}`,
      contentType: 'application/octet-stream',
      ...(user === undefined ? {} : { userId: user }),
    },
  }
}

export type AmqpDelivery = {
  readonly content: Buffer
  /** Set by the sender and untrusted, except `userId`: the broker has compared it with the connected user. */
  readonly properties: unknown
}

/** `user`: the only user that may send this, when one is configured. */
export function decodeParcel({ content, properties }: AmqpDelivery, user?: string): CarriedMessage | DeadLetter {
  const from = (properties as { userId?: unknown }).userId
  if (user !== undefined && from !== user) {
    return {
      reason: 'WRONG_USER',
      detail: `it was sent by ${typeof from === 'string' ? 'another user' : 'an unknown user'}`,
    }
  }
  const parsed = parcelProperties.safeParse(properties)
  if (!parsed.success) return { reason: 'GARBAGE', detail: 'its type or id is not valid for a parcel' }
  if (content.length < length_prefix_bytes) return { reason: 'GARBAGE', detail: 'it is too short for a parcel' }
  const end = length_prefix_bytes + content.readUInt32BE()
  if (end > content.length) return { reason: 'GARBAGE', detail: 'it ends before the end of its envelope' }
  return { ...parsed.data.messageId, envelope: content.subarray(length_prefix_bytes, end), body: content.subarray(end) }
}

/** Bytes of the largest message that is a parcel. */
export function maxMessageBytes({ envelope_bytes, body_bytes }: AmqpParcelLimits): number {
  return length_prefix_bytes + envelope_bytes + body_bytes
}
