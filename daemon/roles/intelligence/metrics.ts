// The intelligence role's metrics.
import { counter, gauge } from '../../kernel/telemetry/metrics.ts'

export const signalTotal = counter('signal_total', 'Signals that entered a status', ['status'])
export const signalActive = gauge('signal_active', 'Open signals in a status now, without silenced and merged ones', [
  'status',
])
export const signalSilenced = gauge('signal_silenced', 'Open signals that a silence hides from plain lists now', [
  'status',
])
export const metrics = [signalTotal, signalActive, signalSilenced]
