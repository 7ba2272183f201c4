// One direction of one link as an operator sees it: position, backlog and faults.
import * as z from 'zod'

const count = z.int().min(0)
const seconds = z.number().min(0)

export const channelStatus = z.strictObject({
  peer: z.string(),
  direction: z.enum(['out', 'in']),
  state: z.enum(['open', 'frozen', 'stopped']),
  stale: z.boolean().meta({ description: 'No message arrived for three intervals of the peer’s inventories' }),
  epoch: z.int(),
  next_seq: z.int().meta({ description: 'The next number to send, or the lowest number that has not arrived' }),
  highest_seq: z.int(),
  gaps: count.meta({ description: 'Missing numbers below the highest' }),
  is_inventory_pending: z.boolean().meta({
    description:
      'True while later numbers may be missing too: no inventory of the epoch has arrived since it began or the site was restored',
  }),
  inventory_age_s: seconds.optional().meta({ description: 'Since the last inventory; absent before the first' }),
  inventory_at: z.iso
    .datetime()
    .optional()
    .meta({ description: 'When the last inventory arrived; absent before the first' }),
  backlog: count.meta({
    description: 'Messages stored here: not yet taken by a carrier, or not yet taken in',
  }),
  held: count.meta({ description: 'Messages of the backlog that wait behind a gap' }),
  set_aside: z.array(z.strictObject({ role: z.string(), kind: z.string(), messages: count })).meta({
    description: 'Messages that wait for roles that the site does not run, besides the backlog',
  }),
  oldest_waiting_s: seconds.optional().meta({
    description: 'Age of the oldest message of the backlog, as recorded in the journal',
  }),
  quarantined: count.meta({ description: 'Items in quarantine' }),
  quarantined_bytes: count,
  messages_per_minute: z
    .number()
    .min(0)
    .meta({ description: 'Made ready for the carrier, or applied; over the last five minutes' }),
  sent: count,
  received: count,
  duplicates: count,
  detail: z.string(),
})
export type ChannelStatus = z.infer<typeof channelStatus>
