// A message that waits at the hub for its receiver. What is in it is for the receiver to judge.
import * as z from 'zod'
import { siteName } from '../../../kernel/messaging/transport.ts'
import { collection } from '../../../kernel/store/store.ts'
import { hubMessage } from '../../../shared/coalition/hub-protocol.ts'

export const storedMail = z.strictObject({
  tenant_id: z.string(),
  receiver: siteName,
  sender: siteName,
  ...hubMessage.shape,
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
