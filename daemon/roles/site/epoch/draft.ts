// Drafts the content that the root keys must sign to open the next epoch towards a peer.
import * as z from 'zod'
import { epochAnnouncement } from '../../../kernel/messaging/one-way-control.ts'
import { operation } from '../../../kernel/operation/operation.ts'
import { oneWayOf } from '../one-way.ts'

export const draft = operation({
  summary: 'Draft the content to sign for the next epoch towards a peer',
  method: 'GET',
  path: '/api/v2/site/epoch',
  input: z.strictObject({ peer: z.string().min(1).max(64) }),
  output: epochAnnouncement
    .omit({ reason: true })
    .meta({ id: 'EpochDraft', description: 'An announcement without its reason and its signatures' }),
  errors: ['not_found', 'unavailable'],
  allow: 'channel:epoch',

  run: async (call, { peer }) => oneWayOf(call).draftEpoch(peer),
})
