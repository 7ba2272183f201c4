// Declines an exchange, or cancels one in progress.

import { formatExchange } from '../../../format/exchange.ts'
import { connectService, serviceOptions } from '../../../options/service-options.ts'
import { command } from '../../../program/command.ts'
import { required, text } from '../../../program/params.ts'
import { printResult } from '../../../terminal/output.ts'

export const definition = command({
  words: 'resolve exchange cancel',
  summary: 'Decline an exchange, or cancel one in progress',
  notes: 'The other sites are notified.',
  positionals: { id: required(text('EXCHANGE', 'Id of the exchange')) },
  options: { reason: text('TEXT', 'Reason, sent to the other sites'), ...serviceOptions },
  example: "platform resolve exchange cancel xchg_… --reason 'not with this lens'",
  async run(params, terminal) {
    const api = await connectService(params, terminal)
    const reason = params.reason === undefined ? {} : { reason: params.reason }
    const exchange = await api.call('resolution.exchange.cancel', { uid: params.id, ...reason })
    printResult(terminal, params.json, exchange, () => formatExchange(terminal, exchange))
    return 0
  },
})
