// Links a signal to an insight that is not closed.
import { command } from '../../command.ts'
import { show } from '../../output.ts'
import { needed, text } from '../../params.ts'
import { service } from '../../service.ts'
import { changeOptions, extrasOf } from '../../signal-options.ts'
import { signalText } from '../../signal-text.ts'

export const definition = command({
  words: 'signal link',
  summary: 'link a signal to an insight',
  notes: 'The insight owns the link: --if-version speaks of the insight.',
  takes: { id: needed(text('SIGNAL', 'the signal’s id')) },
  options: {
    insight: needed(text('INSIGHT', 'the insight’s id')),
    rationale: text('TEXT', 'why; part of its history'),
    ...changeOptions,
  },
  example: 'platform signal link sig_… --insight ins_…',
  async run(given, terminal) {
    const api = await service(given, terminal)
    const changed = await api.call(
      'intelligence.signal.link-insight',
      { uid: given.id, insight_id: given.insight, rationale: given.rationale },
      extrasOf(given),
    )
    show(terminal, given.json, changed, () => signalText(terminal, changed))
    return 0
  },
})
