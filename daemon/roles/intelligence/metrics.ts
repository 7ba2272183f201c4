// The intelligence role's metrics.
import { counter, gauge } from '../../kernel/metrics.ts'

export const signalTotal = counter('signal_total', 'Signals that entered a status', ['status'])
export const signalActive = gauge('signal_active', 'Open signals in a status now', ['status'])
export const metrics = [signalTotal, signalActive]
