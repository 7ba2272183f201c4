// The resolution role's metrics.
import { counter, gauge } from '../../kernel/telemetry/metrics.ts'

export const runTotal = counter('fusion_run_total', 'Runs that entered a state', ['state'])
export const runCount = gauge('fusion_run', 'Runs in a state now', ['state'])
export const metrics = [runTotal, runCount]
