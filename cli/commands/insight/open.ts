// Opens an insight about a signal.
import { classificationOptions, classificationWhereSaid } from '../../classification.ts'
import { command } from '../../command.ts'
import { show } from '../../output.ts'
import { needed, text } from '../../params.ts'
import { service, serviceOptions } from '../../service.ts'
import { createOptions, extrasOf } from '../../signal-options.ts'
import { insightText } from '../../signal-text.ts'

export const definition = command({
  words: 'insight open',
  summary: 'open an insight about a signal, which it names as its trigger',
  takes: { signal: needed(text('SIGNAL', 'the signal’s id')) },
  options: {
    title: needed(text('TEXT', 'the question that it is to answer')),
    description: text('TEXT', 'more about it'),
    ...createOptions,
    ...classificationOptions,
    ...serviceOptions,
  },
  example: 'platform insight open sig_… --title "Why is she there?"',
  async run(given, terminal) {
    const api = await service(given, terminal)
    const { signal: signal_id, title, description } = given
    const classification = await classificationWhereSaid(given, terminal)
    const made = await api.call(
      'intelligence.insight.open',
      { signal_id, title, description, classification },
      extrasOf(given),
    )
    show(terminal, given.json, made, () => insightText(terminal, made))
    return 0
  },
})
