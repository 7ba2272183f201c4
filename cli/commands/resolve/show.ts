// Shows one run of the service, and how far it is.
import { command } from '../../command.ts'
import { show } from '../../output.ts'
import { needed, text } from '../../params.ts'
import { runText } from '../../run-text.ts'
import { service, serviceOptions } from '../../service.ts'

export const definition = command({
  words: 'resolve show',
  summary: 'show a run of the service, and how far it is',
  takes: { id: needed(text('RUN', 'the run’s id')) },
  options: serviceOptions,
  example: 'platform resolve show run_…',
  async run(given, terminal) {
    const api = await service(given, terminal)
    const run = await api.call('resolution.fusion-run.status', { run_id: given.id })
    show(terminal, given.json, run, () => runText(terminal, run))
    return 0
  },
})
