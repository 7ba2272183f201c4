// Lists the signals that are similar to one, with the reasons.

import { formatSimilarSignals, type SimilarSignalRow } from '../../format/similar-signals.ts'
import { connectService, serviceOptions } from '../../options/service-options.ts'
import { command } from '../../program/command.ts'
import { decimal, flag, integer, required, text, withDefault } from '../../program/params.ts'
import { printResult } from '../../terminal/output.ts'

export const definition = command({
  words: 'signal similar',
  summary: 'List similar signals, with the score and reasons of each',
  positionals: { id: required(text('SIGNAL', 'ID of the signal')) },
  options: {
    open: flag('Only signals that are neither resolved nor dismissed'),
    window: withDefault(30, integer('DAYS', 'Largest distance in detection time', 1, 365)),
    minScore: withDefault(30, decimal('POINTS', 'Minimum score, of 100', 1, 100)),
    limit: withDefault(10, integer('COUNT', 'Maximum number of results', 1, 50)),
    ...serviceOptions,
  },
  example: 'platform signal similar sig_… --open',
  async run(params, terminal) {
    const api = await connectService(params, terminal)
    const { id: uid, open: only_open, window: window_days, minScore: min_score, limit } = params
    const input = { uid, only_open, window_days, min_score, limit }
    const { items } = await api.call('intelligence.signal.similar', input)
    printResult(terminal, params.json, { items }, () =>
      formatSimilarSignals(terminal, items as readonly SimilarSignalRow[]),
    )
    return 0
  },
})
