// The gateway role's metrics.
import { counter, gauge } from '../../kernel/telemetry/metrics.ts'
import { serviceStates } from '../../shared/service-registry/registered-service.ts'

/** `invalid`: its URL or service-info. `refused`: its name, or no place. */
export const registrationTotal = counter('gateway_registration_total', 'Registrations of services, by outcome', {
  outcome: ['registered', 'changed', 'renewed', 'conflict', 'invalid', 'refused', 'removed', 'expired'],
})
export const serviceCount = gauge('gateway_service', 'Registered services', { state: serviceStates })
export const guardrailDenialTotal = counter('gateway_guardrail_denial_total', 'Calls that a guardrail has refused', {
  guardrail: 'names',
  reason: ['denied', 'too_large', 'too_much_text', 'pattern', 'label', 'rate', 'quota'],
})
export const toolCallTotal = counter(
  'gateway_tool_call_total',
  'Calls of tools of other services that were passed on',
  {
    service: 'names',
    tool: 'names',
    outcome: ['answered', 'refused'],
  },
)
export const metrics = [guardrailDenialTotal, toolCallTotal, registrationTotal, serviceCount]
