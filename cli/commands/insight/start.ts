// Starts the investigation of an insight; its linked signals go with it.
import { changeCommand } from '../../change-command.ts'
import { insightText } from '../../signal-text.ts'
import { type Similar, similarText } from '../../similar-text.ts'

export const definition = changeCommand({
  words: 'insight start',
  summary: 'start the investigation of an insight; its signals follow',
  of: 'insight',
  asks: 'intelligence.insight.start',
  options: {},
  example: 'platform insight start ins_…',
  input: () => ({}),
  told(terminal, changed) {
    const similar = changed.similar_signals as readonly Similar[]
    const said = insightText(terminal, changed)
    if (similar.length === 0) return said
    return [said, '', 'open signals like the first, not linked to it:', similarText(terminal, similar)].join('\n')
  },
})
