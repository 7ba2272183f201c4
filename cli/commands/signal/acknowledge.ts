// Says that somebody has seen a signal.
import { command } from '../../command.ts'
import { show } from '../../output.ts'
import { needed, text } from '../../params.ts'
import { service } from '../../service.ts'
import { changeOptions, extrasOf } from '../../signal-options.ts'
import { signalText } from '../../signal-text.ts'

export const definition = command({
  words: 'signal acknowledge',
  summary: 'acknowledge a new signal',
  takes: { id: needed(text('SIGNAL', 'the signal’s id')) },
  options: { note: text('TEXT', 'a word on it'), ...changeOptions },
  example: 'platform signal acknowledge sig_… --note "on it"',
  async run(given, terminal) {
    const api = await service(given, terminal)
    const changed = await api.call(
      'intelligence.signal.acknowledge',
      { uid: given.id, note: given.note },
      extrasOf(given),
    )
    show(terminal, given.json, changed, () => signalText(terminal, changed))
    return 0
  },
})
