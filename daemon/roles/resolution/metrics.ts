// The resolution role's metrics.
import { counter, gauge } from '../../kernel/telemetry/metrics.ts'
import { runState } from './fusion-run/model.ts'

export const runTotal = counter('fusion_run_total', 'Runs that entered a state', { state: runState.options })
export const runCount = gauge('fusion_run', 'Runs in a state now', { state: runState.options })
export const metrics = [runTotal, runCount]
