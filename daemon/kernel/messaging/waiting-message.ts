// A message that lies at its receiver and cannot be applied yet, as an operator sees it.
import * as z from 'zod'

export const waitingMessage = z
  .strictObject({
    peer: z.string(),
    epoch: z.int(),
    seq: z.int(),
    kind: z.string(),
    msg_id: z.string(),
    waits_for: z
      .enum(['number', 'epoch', 'role'])
      .meta({ description: 'A missing number, the announcement of its epoch, or a role that the site does not run' }),
    missing: z.int().optional().meta({ description: 'The lowest missing number' }),
    role: z.string().optional(),
    since: z.iso.datetime().meta({ description: 'When it arrived' }),
    expires: z.iso.datetime().meta({ description: 'When it goes to quarantine as EXPIRED, skew aside' }),
  })
  .meta({ id: 'WaitingMessage', description: 'A message that arrived and cannot be applied yet' })
export type WaitingMessage = z.infer<typeof waitingMessage>
