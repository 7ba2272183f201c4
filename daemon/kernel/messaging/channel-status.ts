// One direction of one link as an operator sees it: where its numbers stand, what waits, and what is wrong.
import * as z from 'zod'

const count = z.int().min(0)
const seconds = z.number().min(0)

export const channelStatus = z.strictObject({
  peer: z.string(),
  direction: z.enum(['out', 'in']),
  state: z.enum(['open', 'frozen', 'stopped']),
  stale: z.boolean().meta({ description: 'Nothing has come for three intervals of the peer’s inventories' }),
  epoch: z.int(),
  next_seq: z.int().meta({ description: 'The next number to send; or the lowest that has not come' }),
  highest_seq: z.int(),
  gaps: count.meta({ description: 'Numbers that are missing below the highest' }),
  inventory_age_s: seconds.optional().meta({ description: 'Since the last inventory; absent before the first' }),
  inventory_at: z.iso
    .datetime()
    .optional()
    .meta({ description: 'When the last inventory came; absent before the first' }),
  backlog: count.meta({
    description: 'Messages that lie here: no carrier has taken them, or they are not taken in yet',
  }),
  held: count.meta({ description: 'Those of the backlog that wait behind a gap' }),
  oldest_waiting_s: seconds.optional().meta({
    description: 'How long the first of the backlog has been here, as far as the journal knows of it',
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
