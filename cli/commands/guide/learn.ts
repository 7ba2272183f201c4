// Requests a synthesis of guidance.
import { connectService, serviceOptions } from '../../options/service-options.ts'
import { command } from '../../program/command.ts'
import { printResult } from '../../terminal/output.ts'

export const definition = command({
  words: 'guide learn',
  summary: 'Mine guidance from what was observed, without waiting for further traces',
  options: serviceOptions,
  example: 'platform guide learn',
  async run(params, terminal) {
    const api = await connectService(params, terminal)
    const requested = await api.call('gateway.guide.synthesis.trigger', {})
    printResult(terminal, params.json, requested, () => `requested; traces in memory: ${requested.traces}`)
    return 0
  },
})
