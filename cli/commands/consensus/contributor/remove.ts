// Removes a contributor: it contributes no more.
import { requireConsent } from '../../../confirmation/require-consent.ts'
import { connectService, serviceOptions } from '../../../options/service-options.ts'
import { command } from '../../../program/command.ts'
import { flag, required, text } from '../../../program/params.ts'
import { printResult } from '../../../terminal/output.ts'

export const definition = command({
  words: 'consensus contributor remove',
  summary: 'Remove a contributor; its contributions stay',
  positionals: { name: required(text('NAME', 'Name of the contributor')) },
  options: { yes: flag('Skip the confirmation'), ...serviceOptions },
  example: 'platform consensus contributor remove sensor-7 --yes',
  async run(params, terminal) {
    await requireConsent(terminal, params.yes, `Remove ${params.name}? It contributes no more.`)
    const api = await connectService(params, terminal)
    const removed = await api.call('consensus.contributor.remove', { name: params.name })
    printResult(terminal, params.json, removed, () => `removed ${params.name}`)
    return 0
  },
})
