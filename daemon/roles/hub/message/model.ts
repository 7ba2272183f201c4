// A message that waits at the hub for its receiver. The hub does not read its content.
import * as z from 'zod'
import { siteName } from '../../../kernel/messaging/statement.ts'
import { collection } from '../../../kernel/store/store.ts'
import { hubMessage } from '../../../shared/coalition/hub-protocol.ts'

const storedMail = z.strictObject({
  tenant_id: z.string(),
  receiver: siteName,
  sender: siteName,
  ...hubMessage.shape,
  /** Epoch and number as text whose sort order is numeric. */
  place: z.string(),
  /** Size of envelope and body. */
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
