// Shows an insight, with its editions.
import { command } from '../../command.ts'
import { show } from '../../output.ts'
import { needed, text } from '../../params.ts'
import { service, serviceOptions } from '../../service.ts'
import { insightText } from '../../signal-text.ts'

export const definition = command({
  words: 'insight show',
  summary: 'show an insight, with its editions',
  takes: { id: needed(text('INSIGHT', 'the insight’s id')) },
  options: serviceOptions,
  example: 'platform insight show ins_…',
  async run(given, terminal) {
    const api = await service(given, terminal)
    const changed = await api.call('intelligence.insight.get', { uid: given.id })
    show(terminal, given.json, changed, () => insightText(terminal, changed))
    return 0
  },
})
