// Shows a signal, with each step that it took.
import { command } from '../../command.ts'
import { show } from '../../output.ts'
import { needed, text } from '../../params.ts'
import { service, serviceOptions } from '../../service.ts'
import { signalText } from '../../signal-text.ts'

export const definition = command({
  words: 'signal show',
  summary: 'show a signal, with its history',
  takes: { id: needed(text('SIGNAL', 'the signal’s id')) },
  options: serviceOptions,
  example: 'platform signal show sig_…',
  async run(given, terminal) {
    const api = await service(given, terminal)
    const changed = await api.call('intelligence.signal.get', { uid: given.id })
    show(terminal, given.json, changed, () => signalText(terminal, changed))
    return 0
  },
})
