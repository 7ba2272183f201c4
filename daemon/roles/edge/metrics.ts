// The edge role's metrics. Services are those of the routing table; never a path or another input of a caller.
import { memberStates } from '../../kernel/forward/member-health.ts'
import { counter, gauge, histogram } from '../../kernel/telemetry/metrics.ts'
import { forward_seconds_buckets } from '../../shared/forwarding/forward-problem.ts'

export const requestTotal = counter(
  'edge_requests_total',
  'Requests by the service that they were forwarded to and class of status; service "none" had no service.',
  { service: 'names', status_class: ['1xx', '2xx', '3xx', '4xx', '5xx', 'aborted'] },
)
export const requestSeconds = histogram(
  'edge_request_seconds',
  'Time from the head of a request to the head of its response.',
  { service: 'names' },
  forward_seconds_buckets,
)
export const backendCount = gauge('edge_backends', 'Processes of a service, by state', {
  service: 'names',
  state: memberStates,
})
export const metrics = [requestTotal, requestSeconds, backendCount]
