// Starts the investigation of an insight; its linked signals go with it.
import { command } from '../../command.ts'
import { show } from '../../output.ts'
import { needed, text } from '../../params.ts'
import { service } from '../../service.ts'
import { changeOptions, extrasOf } from '../../signal-options.ts'
import { insightText } from '../../signal-text.ts'

export const definition = command({
  words: 'insight start',
  summary: 'start the investigation of an insight; its signals follow',
  takes: { id: needed(text('INSIGHT', 'the insight’s id')) },
  options: changeOptions,
  example: 'platform insight start ins_…',
  async run(given, terminal) {
    const api = await service(given, terminal)
    const changed = await api.call('intelligence.insight.start', { uid: given.id }, extrasOf(given))
    show(terminal, given.json, changed, () => insightText(terminal, changed))
    return 0
  },
})
