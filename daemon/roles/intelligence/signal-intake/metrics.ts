// Metrics of intake.
import type { Call } from '../../../kernel/operation/call.ts'
import { counter } from '../../../kernel/telemetry/metrics.ts'
import type { IntakeOutcome } from '../signal-source/source-tally.ts'

/** Where items come from: a type of configured source, a peer, or the site itself. */
const intakeKinds = ['webhook', 'polling', 'peer', 'site'] as const
type IntakeKind = (typeof intakeKinds)[number]

export const intakeTotal = counter(
  'signal_intake_total',
  'Items of intake by outcome: taken, repeated, refused, failed',
  { kind: intakeKinds, outcome: ['taken', 'repeated', 'refused', 'failed'] satisfies IntakeOutcome[] },
)

export function countIntake(call: Pick<Call, 'count'>, kind: IntakeKind, outcome: IntakeOutcome, by = 1): void {
  if (by > 0) call.count(intakeTotal, { kind, outcome }, by)
}
