// Starts the investigation of an insight; its linked signals go with it.
import { command } from '../../command.ts'
import { show } from '../../output.ts'
import { needed, text } from '../../params.ts'
import { service } from '../../service.ts'
import { changeOptions, extrasOf } from '../../signal-options.ts'
import { insightText } from '../../signal-text.ts'
import { type Similar, similarText } from '../../similar-text.ts'

export const definition = command({
  words: 'insight start',
  summary: 'start the investigation of an insight; its signals follow',
  takes: { id: needed(text('INSIGHT', 'the insight’s id')) },
  options: changeOptions,
  example: 'platform insight start ins_…',
  async run(given, terminal) {
    const api = await service(given, terminal)
    const changed = await api.call('intelligence.insight.start', { uid: given.id }, extrasOf(given))
    const similar = changed.similar_signals as readonly Similar[]
    show(terminal, given.json, changed, () => {
      const told = insightText(terminal, changed)
      if (similar.length === 0) return told
      return [told, '', 'open signals like the first, not linked to it:', similarText(terminal, similar)].join('\n')
    })
    return 0
  },
})
