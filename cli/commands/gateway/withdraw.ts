// Withdraws the accepted tools and resources of a service.
import { requireConsent } from '../../confirmation/require-consent.ts'
import { connectService, serviceOptions } from '../../options/service-options.ts'
import { command } from '../../program/command.ts'
import { flag, required, text } from '../../program/params.ts'
import { printResult } from '../../terminal/output.ts'

export const definition = command({
  words: 'gateway withdraw',
  summary: 'Withdraw the accepted tools and resources of a service: the gateway offers none of them any more',
  positionals: { name: required(text('NAME', 'Name of the service')) },
  options: { yes: flag('Skip the confirmation'), ...serviceOptions },
  example: 'platform gateway withdraw maps --yes',
  async run(params, terminal) {
    await requireConsent(
      terminal,
      params.yes,
      `Withdraw the tools and resources of ${params.name}? Nobody can use them any more.`,
    )
    const api = await connectService(params, terminal)
    const withdrawn = await api.call('gateway.service-tool.withdraw', { name: params.name })
    printResult(terminal, params.json, withdrawn, () => `withdrew the tools and resources of ${params.name}`)
    return 0
  },
})
