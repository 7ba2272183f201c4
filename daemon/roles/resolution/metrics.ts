// The resolution role's metrics.
import { counter, gauge } from '../../kernel/telemetry/metrics.ts'
import { arrivedRecordOutcomes } from './arrival/model.ts'
import { runState } from './fusion-run/model.ts'

export const runTotal = counter('fusion_run_total', 'Runs that entered a state', { state: runState.options })
export const runCount = gauge('fusion_run', 'Runs in a state now', { state: runState.options })
export const arrivalFileTotal = counter('arrival_file_total', 'Files of a folder that were put away', {
  folder: 'names',
  state: ['done', 'failed'],
})
export const arrivalRowTotal = counter('arrival_row_total', 'Records of the files of a folder, by outcome', {
  folder: 'names',
  outcome: [...arrivedRecordOutcomes, 'refused'],
})
export const arrivalWaiting = gauge('arrival_file_waiting', 'Files of a folder that are not taken yet', {
  folder: 'names',
})
export const metrics = [runTotal, runCount, arrivalFileTotal, arrivalRowTotal, arrivalWaiting]
