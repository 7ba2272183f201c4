// Opens an insight about a signal.

import { formatInsight } from '../../format/signal.ts'
import { classificationOptions, resolveClassificationIfGiven } from '../../options/classification.ts'
import { connectService, serviceOptions } from '../../options/service-options.ts'
import { createOptions, toRequestOptions } from '../../options/signal-options.ts'
import { command } from '../../program/command.ts'
import { required, text } from '../../program/params.ts'
import { printResult } from '../../terminal/output.ts'

export const definition = command({
  words: 'insight open',
  summary: 'open an insight about a signal, which it names as its trigger',
  positionals: { signal: required(text('SIGNAL', 'the signal’s id')) },
  options: {
    title: required(text('TEXT', 'the question that it is to answer')),
    description: text('TEXT', 'more about it'),
    ...createOptions,
    ...classificationOptions,
    ...serviceOptions,
  },
  example: 'platform insight open sig_… --title "Why is she there?"',
  async run(given, terminal) {
    const api = await connectService(given, terminal)
    const { signal: signal_id, title, description } = given
    const classification = await resolveClassificationIfGiven(given, terminal)
    const made = await api.call(
      'intelligence.insight.open',
      { signal_id, title, description, classification },
      toRequestOptions(given),
    )
    printResult(terminal, given.json, made, () => formatInsight(terminal, made))
    return 0
  },
})
