// Puts a signal away; nothing is deleted.
import { command } from '../../command.ts'
import { show } from '../../output.ts'
import { needed, text } from '../../params.ts'
import { service } from '../../service.ts'
import { changeOptions, extrasOf } from '../../signal-options.ts'
import { signalText } from '../../signal-text.ts'

export const definition = command({
  words: 'signal archive',
  summary: 'dismiss a signal and mark it as archived',
  takes: { id: needed(text('SIGNAL', 'the signal’s id')) },
  options: { rationale: text('TEXT', 'why; part of its history'), ...changeOptions },
  example: 'platform signal archive sig_…',
  async run(given, terminal) {
    const api = await service(given, terminal)
    const changed = await api.call(
      'intelligence.signal.archive',
      { uid: given.id, rationale: given.rationale },
      extrasOf(given),
    )
    show(terminal, given.json, changed, () => signalText(terminal, changed))
    return 0
  },
})
