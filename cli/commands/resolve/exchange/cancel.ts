// Declines an exchange, or cancels one under way.

import { formatExchange } from '../../../format/exchange.ts'
import { connectService, serviceOptions } from '../../../options/service-options.ts'
import { command } from '../../../program/command.ts'
import { required, text } from '../../../program/params.ts'
import { printResult } from '../../../terminal/output.ts'

export const definition = command({
  words: 'resolve exchange cancel',
  summary: 'decline an exchange, or cancel one under way; the other sites are told',
  positionals: { id: required(text('EXCHANGE', 'its id')) },
  options: { reason: text('TEXT', 'for the other sites'), ...serviceOptions },
  example: "platform resolve exchange cancel xchg_… --reason 'not with this lens'",
  async run(given, terminal) {
    const api = await connectService(given, terminal)
    const reason = given.reason === undefined ? {} : { reason: given.reason }
    const exchange = await api.call('resolution.exchange.cancel', { uid: given.id, ...reason })
    printResult(terminal, given.json, exchange, () => formatExchange(terminal, exchange))
    return 0
  },
})
