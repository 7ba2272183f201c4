// The gateway role's metrics.
import { counter, gauge, histogram } from '../../kernel/telemetry/metrics.ts'
import { forward_seconds_buckets } from '../../shared/forwarding/forward-problem.ts'
import { serviceStates } from '../../shared/service-registry/registered-service.ts'
import { managedIngressStates } from './managed-ingress/model.ts'

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
export const resourceReadTotal = counter(
  'gateway_resource_read_total',
  'Reads of resources of other services that were passed on',
  { service: 'names', outcome: ['answered', 'refused'] },
)
export const toolHeldTotal = counter(
  'gateway_tool_held_total',
  'Accepted tools and resources that are held since their service has changed their definitions',
  { service: 'names' },
)
export const restRequestTotal = counter(
  'gateway_rest_requests_total',
  'REST requests by the service that they were forwarded to and class of status; service "none" had no service',
  { service: 'names', status_class: ['1xx', '2xx', '3xx', '4xx', '5xx', 'aborted'] },
)
export const restSeconds = histogram(
  'gateway_rest_seconds',
  'Time from the head of a REST request to the head of its response',
  { service: 'names' },
  forward_seconds_buckets,
)
/** `repaired`: somebody had edited or deleted it. `conflict`: the name belongs to an ingress of somebody else. */
export const ingressWriteTotal = counter(
  'gateway_ingress_write_total',
  'Writes of ingresses of registered services to the cluster, by outcome',
  { outcome: ['created', 'patched', 'repaired', 'deleted', 'conflict', 'failed'] },
)
export const managedIngressCount = gauge('gateway_managed_ingress', 'Ingresses of registered services', {
  state: managedIngressStates,
})
export const chatTurnTotal = counter('gateway_chat_turn_total', 'Messages to the chat, by mode and outcome', {
  mode: ['model', 'offline'],
  outcome: ['answered', 'failed', 'cancelled'],
})
export const metrics = [
  chatTurnTotal,
  ingressWriteTotal,
  managedIngressCount,
  restRequestTotal,
  restSeconds,
  guardrailDenialTotal,
  toolCallTotal,
  resourceReadTotal,
  toolHeldTotal,
  registrationTotal,
  serviceCount,
]
