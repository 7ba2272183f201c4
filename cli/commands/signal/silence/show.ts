// Shows a silence, and how many signals came under it.

import { formatSilence } from '../../../format/silence.ts'
import { connectService, serviceOptions } from '../../../options/service-options.ts'
import { command } from '../../../program/command.ts'
import { required, text } from '../../../program/params.ts'
import { printResult } from '../../../terminal/output.ts'

export const definition = command({
  words: 'signal silence show',
  summary: 'show a silence, and how many signals came under it',
  positionals: { id: required(text('SILENCE', 'the silence’s id')) },
  options: serviceOptions,
  example: 'platform signal silence show sil_…',
  async run(given, terminal) {
    const api = await connectService(given, terminal)
    const silence = await api.call('intelligence.silence.get', { uid: given.id })
    printResult(terminal, given.json, silence, () => formatSilence(terminal, silence))
    return 0
  },
})
