// Cancels a run of the service.

import { formatFusionRun } from '../../format/fusion-run.ts'
import { connectService, serviceOptions } from '../../options/service-options.ts'
import { command } from '../../program/command.ts'
import { required, text } from '../../program/params.ts'
import { printResult } from '../../terminal/output.ts'

export const definition = command({
  words: 'resolve cancel',
  summary: 'Cancel a run of the service',
  positionals: { id: required(text('RUN', 'Id of the run')) },
  options: serviceOptions,
  example: 'platform resolve cancel run_…',
  async run(given, terminal) {
    const api = await connectService(given, terminal)
    const run = await api.call('resolution.fusion-run.cancel', { run_id: given.id })
    printResult(terminal, given.json, run, () => formatFusionRun(terminal, run))
    return 0
  },
})
