// Shows signals that are like one, and why.
import { command } from '../../command.ts'
import { show } from '../../output.ts'
import { decimal, flag, needed, otherwise, text, whole } from '../../params.ts'
import { service, serviceOptions } from '../../service.ts'
import { type Similar, similarText } from '../../similar-text.ts'

export const definition = command({
  words: 'signal similar',
  summary: 'show signals like one, with the reasons and the points of each',
  takes: { id: needed(text('SIGNAL', 'the signal’s id')) },
  options: {
    open: flag('only those that are neither resolved nor dismissed'),
    window: otherwise(30, whole('DAYS', 'how far from it another is near in time', 1, 365)),
    minScore: otherwise(30, decimal('POINTS', 'only those with as many, of 100', 1, 100)),
    limit: otherwise(10, whole('COUNT', 'at most so many', 1, 50)),
    ...serviceOptions,
  },
  example: 'platform signal similar sig_… --open',
  async run(given, terminal) {
    const api = await service(given, terminal)
    const { id: uid, open: only_open, window: window_days, minScore: min_score, limit } = given
    const input = { uid, only_open, window_days, min_score, limit }
    const { items } = await api.call('intelligence.signal.similar', input)
    show(terminal, given.json, { items }, () => similarText(terminal, items as readonly Similar[]))
    return 0
  },
})
