// Withdraws what was accepted of a service: the gateway offers none of its tools any more.
import * as z from 'zod'
import { refuse } from '../../../kernel/error/errors.ts'
import { operation } from '../../../kernel/operation/operation.ts'
import { serviceName } from '../../../shared/routing/ingress-settings.ts'
import { toolApprovals } from './model.ts'
import { accepted_tools_topic } from './parts.ts'
import { removeAcceptedTools } from './remove-accepted.ts'

export const withdraw = operation({
  summary: 'Withdraw the accepted tools and resources of a service, registered or not: none is offered any more',
  method: 'DELETE',
  path: '/api/v2/gateway/service/{name}/tool',
  input: z.strictObject({ name: serviceName }),
  output: z.strictObject({ service: serviceName }).meta({ id: 'WithdrawnTools' }),
  errors: ['not_found', 'not_your_tenant'],
  allow: 'gateway:admin',

  async run(call, { name: service }) {
    if (call.caller.tenant_id !== call.site.tenant_id)
      return refuse('not_your_tenant', 'the registry of the gateway belongs to the tenant of the site')
    const approval = await call.store(toolApprovals).find(service)
    if (!approval) return refuse('not_found', `no tool of a service named ${service} has been accepted`)
    const { url } = approval.value
    await call.store(toolApprovals).remove(service, [call.audited('gateway.tool.withdrawn', service, { url })])
    await removeAcceptedTools(call, service)
    call.announce(accepted_tools_topic)
    return { service }
  },
})
