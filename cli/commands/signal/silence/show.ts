// Shows a silence, and how many signals came under it.
import { command } from '../../../command.ts'
import { show } from '../../../output.ts'
import { needed, text } from '../../../params.ts'
import { service, serviceOptions } from '../../../service.ts'
import { silenceText } from '../../../silence-text.ts'

export const definition = command({
  words: 'signal silence show',
  summary: 'show a silence, and how many signals came under it',
  takes: { id: needed(text('SILENCE', 'the silence’s id')) },
  options: serviceOptions,
  example: 'platform signal silence show sil_…',
  async run(given, terminal) {
    const api = await service(given, terminal)
    const silence = await api.call('intelligence.silence.get', { uid: given.id })
    show(terminal, given.json, silence, () => silenceText(terminal, silence))
    return 0
  },
})
