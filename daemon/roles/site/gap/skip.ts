// Gives missing numbers of a peer up, so that messages that wait behind them are applied.
import { operation } from '../../../kernel/operation/operation.ts'
import { oneWayOf } from '../one-way.ts'
import { rangeDecision, rangeFields } from './number-range.ts'

export const skip = operation({
  summary: 'Give up missing numbers of a peer, so that messages behind them are applied',
  method: 'POST',
  path: '/api/v2/site/gap/skip',
  input: rangeFields,
  output: rangeDecision,
  errors: ['not_found', 'conflict', 'unavailable'],
  allow: 'channel:skip',

  async run(call, { peer, reason, ...range }) {
    const audited = (channel: string) => call.audited('site.gap.skip', channel, { peer, reason, ...range })
    return await oneWayOf(call).skip(peer, range, (channel) => [audited(channel)])
  },
})
