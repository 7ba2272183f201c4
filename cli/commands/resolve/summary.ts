// Summarises a run of the service as prose.

import { connectService, serviceOptions } from '../../options/service-options.ts'
import { command } from '../../program/command.ts'
import { required, text } from '../../program/params.ts'
import { keepLayout, printResult } from '../../terminal/output.ts'

export const definition = command({
  words: 'resolve summary',
  summary: 'Summarise a run of the service as prose',
  positionals: { id: required(text('RUN', 'Id of the run')) },
  options: serviceOptions,
  example: 'platform resolve summary run_…',
  async run(params, terminal) {
    const api = await connectService(params, terminal)
    const response = await api.call('resolution.fusion-run.summary', { run_id: params.id })
    printResult(terminal, params.json, response, () => keepLayout(String(response.text).trimEnd()))
    return 0
  },
})
