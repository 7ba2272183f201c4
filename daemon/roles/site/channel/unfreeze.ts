// Reopens a frozen channel from a peer, after a person has examined the cause and states a reason.
import * as z from 'zod'
import { operation } from '../../../kernel/operation/operation.ts'
import { oneWayOf } from '../one-way.ts'

export const unfreeze = operation({
  summary: 'Open a frozen channel from a peer again',
  method: 'POST',
  path: '/api/v2/site/channel/{peer}/unfreeze',
  input: z.strictObject({
    peer: z.string().min(1).max(64),
    reason: z.string().trim().min(1).max(1_000).meta({ description: 'Finding of the examination, for the audit log' }),
  }),
  output: z
    .strictObject({
      peer: z.string(),
      channel: z.string(),
      was: z.string().meta({ description: 'Reason of the freeze' }),
    })
    .meta({ id: 'Unfrozen' }),
  errors: ['not_found', 'conflict', 'unavailable'],
  allow: 'channel:unfreeze',

  run: async (call, { peer, reason }) =>
    oneWayOf(call).unfreeze(peer, ({ channel, was }) => [
      call.audited('site.channel.unfreeze', channel, { peer, reason, was }),
    ]),
})
