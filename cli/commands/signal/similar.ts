// Shows signals that are like one, and why.

import { formatSimilarSignals, type SimilarSignalRow } from '../../format/similar-signals.ts'
import { connectService, serviceOptions } from '../../options/service-options.ts'
import { command } from '../../program/command.ts'
import { decimal, flag, integer, required, text, withDefault } from '../../program/params.ts'
import { printResult } from '../../terminal/output.ts'

export const definition = command({
  words: 'signal similar',
  summary: 'show signals like one, with the reasons and the points of each',
  positionals: { id: required(text('SIGNAL', 'the signal’s id')) },
  options: {
    open: flag('only those that are neither resolved nor dismissed'),
    window: withDefault(30, integer('DAYS', 'how far from it another is near in time', 1, 365)),
    minScore: withDefault(30, decimal('POINTS', 'only those with as many, of 100', 1, 100)),
    limit: withDefault(10, integer('COUNT', 'at most so many', 1, 50)),
    ...serviceOptions,
  },
  example: 'platform signal similar sig_… --open',
  async run(given, terminal) {
    const api = await connectService(given, terminal)
    const { id: uid, open: only_open, window: window_days, minScore: min_score, limit } = given
    const input = { uid, only_open, window_days, min_score, limit }
    const { items } = await api.call('intelligence.signal.similar', input)
    printResult(terminal, given.json, { items }, () =>
      formatSimilarSignals(terminal, items as readonly SimilarSignalRow[]),
    )
    return 0
  },
})
