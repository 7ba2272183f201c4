// Opens an insight about a signal.

import { formatInsight } from '../../format/signal.ts'
import { classificationOptions, resolveOptionalClassification } from '../../options/classification.ts'
import { connectService, serviceOptions } from '../../options/service-options.ts'
import { createOptions, toRequestOptions } from '../../options/signal-options.ts'
import { command } from '../../program/command.ts'
import { required, text } from '../../program/params.ts'
import { printResult } from '../../terminal/output.ts'

export const definition = command({
  words: 'insight open',
  summary: 'Open an insight about a signal, its trigger',
  positionals: { signal: required(text('SIGNAL', 'ID of the signal')) },
  options: {
    title: required(text('TEXT', 'Question to investigate')),
    description: text('TEXT', 'Longer description'),
    ...createOptions,
    ...classificationOptions,
    ...serviceOptions,
  },
  example: 'platform insight open sig_… --title "Why is she there?"',
  async run(params, terminal) {
    const api = await connectService(params, terminal)
    const { signal: signal_id, title, description } = params
    const classification = await resolveOptionalClassification(params, terminal)
    const created = await api.call(
      'intelligence.insight.open',
      { signal_id, title, description, classification },
      toRequestOptions(params),
    )
    printResult(terminal, params.json, created, () => formatInsight(terminal, created))
    return 0
  },
})
