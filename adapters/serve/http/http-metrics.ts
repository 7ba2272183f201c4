// The metrics of every HTTP listener; boot declares them beside those of the roles.
import { counter, gauge, histogram } from '../../../daemon/kernel/telemetry/metrics.ts'

export const httpRequests = counter(
  'http_requests_total',
  'Requests answered; operation "none" is a path that nobody serves.',
  { operation: 'names', status: 'status' },
)

export const httpSeconds = histogram(
  'http_request_seconds',
  'Time from the head of a request to the end of its answer, streams left out.',
  { operation: 'names' },
  [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30],
)

export const httpActiveRequests = gauge('http_requests_in_flight', 'Requests under way on a listener.', {
  listener: 'names',
})
