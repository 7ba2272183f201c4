// The accepted tools of registered services, as this process of the gateway offers them.
import type { Call } from '../../../kernel/operation/call.ts'
import type { RegisteredServiceTools } from '../../../shared/service-registry/registered-service.ts'
import { acceptedTools } from '../service-tool/model.ts'
import { type BreakerState, serviceToolsPart } from '../service-tool/parts.ts'

/** By service; those without accepted tools are absent. */
export async function describeTools(call: Call): Promise<ReadonlyMap<string, RegisteredServiceTools>> {
  const { states, countOffered, listOpenBreakers } = call.part(serviceToolsPart)
  const accepted = await call.store(acceptedTools).countBy('service')
  const breakers = listOpenBreakers()
  return new Map(
    [...accepted].map(([name, count]) => {
      const service = String(name)
      const { listed, trouble } = states.get(service) ?? {}
      const list = listed ? ('read' as const) : ('unread' as const)
      const breaker = nameBreaker(breakers.get(service))
      const known = { accepted: count, offered: countOffered(service), list, breaker }
      return [service, trouble === undefined ? known : { ...known, trouble }] as const
    }),
  )
}

function nameBreaker(state: BreakerState | undefined): RegisteredServiceTools['breaker'] {
  if (!state) return 'closed'
  return state.isOpen ? 'open' : 'open_for_callers'
}
