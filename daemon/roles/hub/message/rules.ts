// How messages are named and ordered at the hub, and how much of them one node may leave with another.
import type * as z from 'zod'
import { sha256 } from '../../../kernel/encoding/canonical-json.ts'
import { Refusal, refuse } from '../../../kernel/error/errors.ts'
import type { Scalar } from '../../../kernel/store/store.ts'
import type { hubMessage } from '../../../shared/coalition/hub-protocol.ts'

type Mail = z.infer<typeof hubMessage>

/** What a sender is told to wait for before it tries a full mailbox again. */
const retry_after_s = 5

/** Of the very bytes, so that the same message twice is one, and another under its number does not take its place. */
export function mailId(tenant_id: string, receiver: string, sender: string, given: Mail): string {
  const { epoch, seq, envelope, body } = given
  return `mail_${sha256(JSON.stringify([tenant_id, receiver, sender, epoch, seq, envelope, body]))}`
}

export function sortKeyOf({ epoch, seq }: Pick<Mail, 'epoch' | 'seq'>): string {
  return `${String(epoch).padStart(8, '0')}/${String(seq).padStart(16, '0')}`
}

/** Bytes behind the base64. */
export function bytesOf({ envelope, body }: Pick<Mail, 'envelope' | 'body'>): number {
  return [envelope, body].reduce((sum, text) => sum + (text.length / 4) * 3 - paddingBytes(text), 0)
}

function paddingBytes(text: string): number {
  if (text.endsWith('==')) return 2
  return text.endsWith('=') ? 1 : 0
}

export type MailboxUsage = { readonly messages: number; readonly bytes: number }

/** What lies there, from how many messages there are of each size. */
export function sumUsage(sizes: ReadonlyMap<Scalar, number>): MailboxUsage {
  const all = [...sizes].map(([size, count]) => ({ messages: count, bytes: Number(size) * count }))
  return all.reduce((sum, each) => ({ messages: sum.messages + each.messages, bytes: sum.bytes + each.bytes }), {
    messages: 0,
    bytes: 0,
  })
}

/** An empty mailbox takes any message that is not too large for the hub. */
export function checkMailboxRoom(bytes: number, held: MailboxUsage, most: MailboxUsage): Refusal | undefined {
  if (held.messages === 0) return undefined
  if (held.messages < most.messages && held.bytes + bytes <= most.bytes) return undefined
  return new Refusal('rate_limited', 'the receiver has not taken what this node sent before', [], retry_after_s)
}

export function checkMessageSize(bytes: number, most: number): Refusal | undefined {
  return bytes > most ? refuse('too_large', `the hub takes messages of ${most} bytes at most`) : undefined
}
