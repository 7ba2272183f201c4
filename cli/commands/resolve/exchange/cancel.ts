// Declines an exchange, or cancels one under way.
import { command } from '../../../command.ts'
import { exchangeText } from '../../../exchange-text.ts'
import { show } from '../../../output.ts'
import { needed, text } from '../../../params.ts'
import { service, serviceOptions } from '../../../service.ts'

export const definition = command({
  words: 'resolve exchange cancel',
  summary: 'decline an exchange, or cancel one under way; the other sites are told',
  takes: { id: needed(text('EXCHANGE', 'its id')) },
  options: { reason: text('TEXT', 'for the other sites'), ...serviceOptions },
  example: "platform resolve exchange cancel xchg_… --reason 'not with this lens'",
  async run(given, terminal) {
    const api = await service(given, terminal)
    const reason = given.reason === undefined ? {} : { reason: given.reason }
    const exchange = await api.call('resolution.exchange.cancel', { uid: given.id, ...reason })
    show(terminal, given.json, exchange, () => exchangeText(terminal, exchange))
    return 0
  },
})
