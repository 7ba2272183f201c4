// Metrics of the evaluator.
import { counter } from '../../../../kernel/telemetry/metrics.ts'

export const scorePersistedTotal = counter(
  'guide_evaluator_score_persisted_total',
  'Scores of artifacts that the evaluator has written',
  {},
)
export const scorePersistFailedTotal = counter(
  'guide_evaluator_score_persist_failed_total',
  'Scores of artifacts that could not be written; the evaluator goes on with what it has in memory',
  {},
)

export const evaluationMetrics = [scorePersistedTotal, scorePersistFailedTotal]
