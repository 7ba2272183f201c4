// The intelligence role's metrics.
import { counter, gauge } from '../../kernel/telemetry/metrics.ts'
import { signalStatus } from './signal/model.ts'

const statuses = { status: signalStatus.options }

export const signalTotal = counter('signal_total', 'Signals that entered a status', statuses)
export const signalActive = gauge(
  'signal_active',
  'Open signals in a status now, without silenced and merged ones',
  statuses,
)
export const signalSilenced = gauge(
  'signal_silenced',
  'Open signals that a silence hides from plain lists now',
  statuses,
)
export const metrics = [signalTotal, signalActive, signalSilenced]
