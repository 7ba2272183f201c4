// Shows an insight, with its editions.

import { formatInsight } from '../../format/signal.ts'
import { connectService, serviceOptions } from '../../options/service-options.ts'
import { command } from '../../program/command.ts'
import { required, text } from '../../program/params.ts'
import { printResult } from '../../terminal/output.ts'

export const definition = command({
  words: 'insight show',
  summary: 'show an insight, with its editions',
  positionals: { id: required(text('INSIGHT', 'the insight’s id')) },
  options: serviceOptions,
  example: 'platform insight show ins_…',
  async run(given, terminal) {
    const api = await connectService(given, terminal)
    const changed = await api.call('intelligence.insight.get', { uid: given.id })
    printResult(terminal, given.json, changed, () => formatInsight(terminal, changed))
    return 0
  },
})
