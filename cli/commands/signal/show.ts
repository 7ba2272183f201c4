// Shows a signal, with each step that it took.

import { formatSignal } from '../../format/signal.ts'
import { connectService, serviceOptions } from '../../options/service-options.ts'
import { command } from '../../program/command.ts'
import { required, text } from '../../program/params.ts'
import { printResult } from '../../terminal/output.ts'

export const definition = command({
  words: 'signal show',
  summary: 'show a signal, with its history',
  positionals: { id: required(text('SIGNAL', 'the signal’s id')) },
  options: serviceOptions,
  example: 'platform signal show sig_…',
  async run(given, terminal) {
    const api = await connectService(given, terminal)
    const changed = await api.call('intelligence.signal.get', { uid: given.id })
    printResult(terminal, given.json, changed, () => formatSignal(terminal, changed))
    return 0
  },
})
