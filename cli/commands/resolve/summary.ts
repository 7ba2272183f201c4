// Tells what a run of the service did and found, as prose.
import { command } from '../../command.ts'
import { printable, show } from '../../output.ts'
import { needed, text } from '../../params.ts'
import { service, serviceOptions } from '../../service.ts'

export const definition = command({
  words: 'resolve summary',
  summary: 'tell what a run of the service did and found, as prose',
  takes: { id: needed(text('RUN', 'the run’s id')) },
  options: serviceOptions,
  example: 'platform resolve summary run_…',
  async run(given, terminal) {
    const api = await service(given, terminal)
    const told = await api.call('resolution.fusion-run.summary', { run_id: given.id })
    show(terminal, given.json, told, () => printable(String(told.text).trimEnd()))
    return 0
  },
})
