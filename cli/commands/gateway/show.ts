// Shows a service that is registered with the gateway.
import { formatService } from '../../format/gateway-service.ts'
import { connectService, serviceOptions } from '../../options/service-options.ts'
import { command } from '../../program/command.ts'
import { required, text } from '../../program/params.ts'
import { printResult } from '../../terminal/output.ts'

export const definition = command({
  words: 'gateway show',
  summary: 'Show a registered service: its objects, who registered it, and until when',
  positionals: { name: required(text('NAME', 'Name of the service')) },
  options: serviceOptions,
  example: 'platform gateway show pipeline-service',
  async run(params, terminal) {
    const api = await connectService(params, terminal)
    const service = await api.call('gateway.registered-service.get', { name: params.name })
    printResult(terminal, params.json, service, () => formatService(terminal, service))
    return 0
  },
})
