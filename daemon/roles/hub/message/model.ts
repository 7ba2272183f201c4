// A message that waits at the hub for its receiver. What is in it is for the receiver to judge.
import * as z from 'zod'
import { mail } from '../../../kernel/coalition.ts'
import { collection } from '../../../kernel/store.ts'
import { siteName } from '../../../kernel/transport.ts'

export const storedMail = z.strictObject({
  tenant_id: z.string(),
  receiver: siteName,
  sender: siteName,
  ...mail.shape,
  /** Epoch and number as text that sorts as they count. */
  place: z.string(),
  /** Of envelope and body. */
  bytes: z.number(),
  arrived_at: z.iso.datetime(),
  expires_ts: z.number(),
})
export type StoredMail = z.infer<typeof storedMail>

export const mailboxes = collection({
  name: 'mail',
  schema: storedMail,
  indexes: ['receiver', 'sender', 'place', 'bytes'],
})
