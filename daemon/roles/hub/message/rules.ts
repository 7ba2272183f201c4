// Ids and order of messages at the hub, and the limits of a mailbox.
import type * as z from 'zod'
import { sha256 } from '../../../kernel/encoding/canonical-json.ts'
import { Refusal, refuse } from '../../../kernel/error/errors.ts'
import type { Scalar } from '../../../kernel/store/store.ts'
import type { hubMessage } from '../../../shared/coalition/hub-protocol.ts'

type Mail = z.infer<typeof hubMessage>

/** Seconds that a sender is to wait before it tries a full mailbox again. */
const retry_after_s = 5

export function mailTopic(receiver: string): string {
  return `hub.mail/${receiver}`
}

/** Derived from the exact bytes: a repeat has the same id, and other content under the same number another one. */
export function mailId(tenant_id: string, receiver: string, sender: string, message: Mail): string {
  const { epoch, seq, envelope, body } = message
  return `mail_${sha256(JSON.stringify([tenant_id, receiver, sender, epoch, seq, envelope, body]))}`
}

export function sortKeyOf({ epoch, seq }: Pick<Mail, 'epoch' | 'seq'>): string {
  return `${String(epoch).padStart(8, '0')}/${String(seq).padStart(16, '0')}`
}

/** Decoded size of envelope and body. */
export function bytesOf({ envelope, body }: Pick<Mail, 'envelope' | 'body'>): number {
  return [envelope, body].reduce((sum, text) => sum + (text.length / 4) * 3 - paddingBytes(text), 0)
}

function paddingBytes(text: string): number {
  if (text.endsWith('==')) return 2
  return text.endsWith('=') ? 1 : 0
}

export type MailboxUsage = { readonly messages: number; readonly bytes: number }

/** The usage of a mailbox, from the number of messages of each size. */
export function sumUsage(sizes: ReadonlyMap<Scalar, number>): MailboxUsage {
  const all = [...sizes].map(([size, count]) => ({ messages: count, bytes: Number(size) * count }))
  return all.reduce((sum, each) => ({ messages: sum.messages + each.messages, bytes: sum.bytes + each.bytes }), {
    messages: 0,
    bytes: 0,
  })
}

/** An empty mailbox accepts any message that the hub accepts. Refuses `rate_limited` when full. */
export function checkMailboxRoom(bytes: number, usage: MailboxUsage, max: MailboxUsage): Refusal | undefined {
  if (usage.messages === 0) return undefined
  if (usage.messages < max.messages && usage.bytes + bytes <= max.bytes) return undefined
  return new Refusal(
    'rate_limited',
    `the mailbox is full: ${usage.messages} messages of this node wait for the receiver (at most ${max.messages}, ${max.bytes} bytes)`,
    [],
    retry_after_s,
  )
}

export function checkMessageSize(bytes: number, max_bytes: number): Refusal | undefined {
  return bytes > max_bytes
    ? refuse('too_large', `the message has ${bytes} bytes; the hub accepts at most ${max_bytes}`)
    : undefined
}
