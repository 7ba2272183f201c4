// Metrics of intake.
import type { Call } from '../../../kernel/operation/call.ts'
import { counter } from '../../../kernel/telemetry/metrics.ts'
import type { IntakeOutcome } from '../signal-source/source-tally.ts'

/** `source`: a source of the profile, `peer`, or a kind of site cause. */
export const intakeTotal = counter(
  'signal_intake_total',
  'Items of intake by outcome: taken, repeated, refused, failed',
  ['source', 'outcome'],
)

export function countIntake(call: Pick<Call, 'count'>, source: string, outcome: IntakeOutcome, by = 1): void {
  if (by > 0) call.count(intakeTotal, { source, outcome }, by)
}
