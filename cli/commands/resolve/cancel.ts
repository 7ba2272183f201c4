// Cancels a run of the service.
import { command } from '../../command.ts'
import { show } from '../../output.ts'
import { needed, text } from '../../params.ts'
import { runText } from '../../run-text.ts'
import { service, serviceOptions } from '../../service.ts'

export const definition = command({
  words: 'resolve cancel',
  summary: 'cancel a run of the service',
  takes: { id: needed(text('RUN', 'the run’s id')) },
  options: serviceOptions,
  example: 'platform resolve cancel run_…',
  async run(given, terminal) {
    const api = await service(given, terminal)
    const run = await api.call('resolution.fusion-run.cancel', { run_id: given.id })
    show(terminal, given.json, run, () => runText(terminal, run))
    return 0
  },
})
