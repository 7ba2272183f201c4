// A parcel as one message of a broker: both files byte for byte, and their number as its id.
import * as z from 'zod'
import type { Parcel } from '../../../daemon/kernel/carrier.ts'
import type { Draft } from './publisher.ts'

export const message_type = 'platform.parcel.1'

/** Why a message is no parcel, whenever it is looked at: it goes where dead letters are. */
export type DeadReason = 'GARBAGE' | 'TOO_LARGE' | 'WRONG_USER'
export type Dead = { readonly reason: DeadReason; readonly detail: string }

/** Largest files that a parcel may hold, in bytes: file-drop judges that, and the reader keeps larger messages out. */
export type Limits = { readonly envelope_bytes: number; readonly body_bytes: number }

/** Bytes before the envelope that say how long it is, highest first; the body is the rest. */
const length_bytes = 4

const number = z
  .string()
  .regex(/^\d{8}-\d{16}$/)
  .transform((text) => ({ epoch: Number(text.slice(0, 8)), seq: Number(text.slice(9)) }))
  .refine(({ epoch, seq }) => epoch >= 1 && seq >= 1 && Number.isSafeInteger(seq))

const properties = z.object({ type: z.literal(message_type), messageId: number })

/** `user`: this site's at the broker, which vouches for it; absent where a certificate says it. */
export function draftOf(
  { epoch, seq, envelope, body }: Parcel,
  exchange: string,
  key: string,
  user: string | undefined,
): Draft {
  const length = Buffer.alloc(length_bytes)
  length.writeUInt32BE(envelope.byteLength)
  return {
    exchange,
    key,
    content: Buffer.concat([length, envelope, body]),
    about: {
      type: message_type,
      messageId: `${String(epoch).padStart(8, '0')}-${String(seq).padStart(16, '0')}`,
      contentType: 'application/octet-stream',
      ...(user === undefined ? {} : { userId: user }),
    },
  }
}

export type Arrived = {
  readonly content: Buffer
  /** Whatever the sender made of them, but for `userId`: that one the broker has compared with who was connected. */
  readonly properties: unknown
}

/** `user`: who alone may send this, when that is settled. */
export function parcelIn({ content, properties: given }: Arrived, user?: string): Parcel | Dead {
  const from = (given as { userId?: unknown }).userId
  if (user !== undefined && from !== user) {
    return {
      reason: 'WRONG_USER',
      detail: `it was sent by ${typeof from === 'string' ? 'another user' : 'nobody known'}`,
    }
  }
  const parsed = properties.safeParse(given)
  if (!parsed.success) return { reason: 'GARBAGE', detail: 'its type or id is not that of a parcel' }
  if (content.length < length_bytes) return { reason: 'GARBAGE', detail: 'it is too short for a parcel' }
  const end = length_bytes + content.readUInt32BE()
  if (end > content.length) return { reason: 'GARBAGE', detail: 'it ends before its envelope does' }
  return { ...parsed.data.messageId, envelope: content.subarray(length_bytes, end), body: content.subarray(end) }
}

/** Bytes of the largest message that is a parcel. */
export function largest({ envelope_bytes, body_bytes }: Limits): number {
  return length_bytes + envelope_bytes + body_bytes
}
