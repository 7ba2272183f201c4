// The gateway role's metrics.
import { counter, gauge } from '../../kernel/telemetry/metrics.ts'

const registrationTotal = counter('gateway_registration_total', 'Registrations of services, by outcome', {
  outcome: ['registered', 'changed', 'renewed', 'refused', 'unreachable', 'removed', 'expired'],
})
const serviceCount = gauge('gateway_service', 'Registered services', { state: ['live', 'unverified', 'expired'] })
export const metrics = [registrationTotal, serviceCount]
