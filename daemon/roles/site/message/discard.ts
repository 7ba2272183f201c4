// Moves messages of a peer that cannot be applied yet to quarantine, where they wait for nothing any more.
import { operation } from '../../../kernel/operation/operation.ts'
import { rangeDecision, rangeFields } from '../gap/number-range.ts'
import { oneWayOf } from '../one-way.ts'

export const discard = operation({
  summary: 'Quarantine messages of a peer that cannot be applied yet',
  method: 'POST',
  path: '/api/v2/site/message/discard',
  input: rangeFields,
  output: rangeDecision,
  errors: ['not_found', 'conflict', 'unavailable'],
  allow: 'channel:discard',

  async run(call, { peer, reason, ...range }) {
    const audited = (channel: string) => call.audited('site.message.discard', channel, { peer, reason, ...range })
    return await oneWayOf(call).discard(peer, range, reason, (channel) => [audited(channel)])
  },
})
