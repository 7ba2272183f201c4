// Starts the investigation of an insight and of its linked signals.

import { formatInsight } from '../../format/signal.ts'
import { formatSimilarSignals, type SimilarSignalRow } from '../../format/similar-signals.ts'
import { changeCommand } from '../../program/change-command.ts'

import { line_break } from '../../terminal/output.ts'
export const definition = changeCommand({
  words: 'insight start',
  summary: 'Start the investigation of an insight and its linked signals',
  object: 'insight',
  operation: 'intelligence.insight.start',
  options: {},
  example: 'platform insight start ins_…',
  input: () => ({}),
  format(terminal, changed) {
    const similar = changed.similar_signals as readonly SimilarSignalRow[]
    const text = formatInsight(terminal, changed)
    if (similar.length === 0) return text
    return [
      text,
      '',
      'Open signals similar to the trigger and not linked:',
      formatSimilarSignals(terminal, similar),
    ].join(line_break)
  },
})
