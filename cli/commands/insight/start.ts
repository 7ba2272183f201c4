// Starts the investigation of an insight; its linked signals go with it.

import { formatInsight } from '../../format/signal.ts'
import { formatSimilarSignals, type SimilarSignalRow } from '../../format/similar-signals.ts'
import { changeCommand } from '../../program/change-command.ts'

export const definition = changeCommand({
  words: 'insight start',
  summary: 'start the investigation of an insight; its signals follow',
  of: 'insight',
  operation: 'intelligence.insight.start',
  options: {},
  example: 'platform insight start ins_…',
  input: () => ({}),
  format(terminal, changed) {
    const similar = changed.similar_signals as readonly SimilarSignalRow[]
    const said = formatInsight(terminal, changed)
    if (similar.length === 0) return said
    return [said, '', 'open signals like the first, not linked to it:', formatSimilarSignals(terminal, similar)].join(
      '\n',
    )
  },
})
