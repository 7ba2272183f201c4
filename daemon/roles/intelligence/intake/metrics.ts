// Metrics of intake.
import type { Call } from '../../../kernel/call.ts'
import { counter } from '../../../kernel/metrics.ts'
import type { Outcome } from './source/tally.ts'

/** `source`: of the profile, `peer`, or what the site raises by itself. */
export const intakeTotal = counter('signal_intake_total', 'What came by intake: taken, repeated, refused, failed', [
  'source',
  'outcome',
])

export function counted(call: Pick<Call, 'count'>, source: string, outcome: Outcome, by = 1): void {
  if (by > 0) call.count(intakeTotal, { source, outcome }, by)
}
