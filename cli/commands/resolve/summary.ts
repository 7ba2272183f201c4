// Summarises a run of the service as prose.

import { connectService, serviceOptions } from '../../options/service-options.ts'
import { command } from '../../program/command.ts'
import { required, text } from '../../program/params.ts'
import { escapeControls, printResult } from '../../terminal/output.ts'

export const definition = command({
  words: 'resolve summary',
  summary: 'Summarise a run of the service as prose',
  positionals: { id: required(text('RUN', 'Id of the run')) },
  options: serviceOptions,
  example: 'platform resolve summary run_…',
  async run(given, terminal) {
    const api = await connectService(given, terminal)
    const told = await api.call('resolution.fusion-run.summary', { run_id: given.id })
    printResult(terminal, given.json, told, () => escapeControls(String(told.text).trimEnd()))
    return 0
  },
})
