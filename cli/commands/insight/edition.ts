// Adds an edition to an insight, to be attested.
import { command } from '../../command.ts'
import { show } from '../../output.ts'
import { flag, needed, text } from '../../params.ts'
import { service } from '../../service.ts'
import { changeOptions, createOptions, extrasOf } from '../../signal-options.ts'
import { insightText } from '../../signal-text.ts'

export const definition = command({
  words: 'insight edition',
  summary: 'add an edition: what the insight has come to say',
  takes: { id: needed(text('INSIGHT', 'the insight’s id')) },
  options: {
    title: needed(text('TEXT', 'what it is about')),
    summary: needed(text('TEXT', 'what it says')),
    closes: flag('its attestation closes the investigation'),
    ...createOptions,
    ...changeOptions,
  },
  example: 'platform insight edition ins_… --title "What we know" --summary "engine trouble" --closes',
  async run(given, terminal) {
    const api = await service(given, terminal)
    const changed = await api.call(
      'intelligence.edition.draft',
      { uid: given.id, title: given.title, summary: given.summary, closes: given.closes },
      extrasOf(given),
    )
    show(terminal, given.json, changed, () => insightText(terminal, changed))
    return 0
  },
})
