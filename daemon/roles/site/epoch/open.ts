// Opens the next epoch towards a peer, by an announcement that the site's root keys have signed.
import * as z from 'zod'
import { jws } from '../../../kernel/cryptography/signatures.ts'
import { epochAnnouncement } from '../../../kernel/messaging/one-way-control.ts'
import { operation } from '../../../kernel/operation/operation.ts'
import { oneWayOf } from '../one-way.ts'

export const open = operation({
  summary: 'Open the next epoch towards a peer',
  method: 'POST',
  path: '/api/v2/site/epoch',
  input: z.strictObject({ announcement: jws }),
  output: epochAnnouncement.meta({ id: 'EpochAnnouncement' }),
  status: 201,
  errors: ['not_found', 'signature_invalid', 'invalid', 'conflict', 'unavailable'],
  allow: 'channel:epoch',

  run: async (call, { announcement }) =>
    oneWayOf(call).openEpoch(announcement, ({ channel, epoch, reason }) => [
      call.audited('site.epoch.open', channel, { epoch, reason }),
    ]),
})
