// Says what the root keys must sign so that the next epoch towards a peer can be opened.
import * as z from 'zod'
import { epochAnnouncement } from '../../../kernel/messaging/one-way-control.ts'
import { operation } from '../../../kernel/operation/operation.ts'
import { oneWayOf } from '../one-way.ts'

export const draft = operation({
  summary: 'What must be signed to open the next epoch towards a peer',
  method: 'GET',
  path: '/api/v2/site/epoch',
  input: z.strictObject({ peer: z.string().min(1).max(64) }),
  output: epochAnnouncement
    .omit({ reason: true })
    .meta({ id: 'EpochDraft', description: 'An announcement that still lacks its reason and its signatures' }),
  errors: ['not_found', 'unavailable'],
  allow: 'channel:epoch',

  run: async (call, { peer }) => oneWayOf(call).draftEpoch(peer),
})
