// The intelligence role's metrics.
import { counter, gauge } from '../../kernel/telemetry/metrics.ts'

export const signalTotal = counter('signal_total', 'Signals that entered a status', ['status'])
export const signalActive = gauge(
  'signal_active',
  'Open signals in a status now, without those that are silenced or merged into others',
  ['status'],
)
export const signalSilenced = gauge('signal_silenced', 'Open signals that a silence keeps out of plain lists now', [
  'status',
])
export const metrics = [signalTotal, signalActive, signalSilenced]
