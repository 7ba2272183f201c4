// Ends the registration of a service.
import { requireConsent } from '../../confirmation/require-consent.ts'
import { connectService, serviceOptions } from '../../options/service-options.ts'
import { command } from '../../program/command.ts'
import { flag, required, text } from '../../program/params.ts'
import { printResult } from '../../terminal/output.ts'

export const definition = command({
  words: 'gateway remove',
  summary: 'End the registration of a service',
  notes: 'A service that still runs registers again: take its permission away, or its URL out of gateway.services.',
  positionals: { name: required(text('NAME', 'Name of the service')) },
  options: { yes: flag('Skip the confirmation'), ...serviceOptions },
  example: 'platform gateway remove maps --yes',
  async run(params, terminal) {
    await requireConsent(terminal, params.yes, `End the registration of ${params.name}? It gets no more requests.`)
    const api = await connectService(params, terminal)
    const removed = await api.call('gateway.registered-service.remove', { name: params.name })
    printResult(terminal, params.json, removed, () => `removed ${params.name}`)
    return 0
  },
})
