// Metrics of syntheses by the model of the guidance layer.
import type { Call } from '../../../../kernel/operation/call.ts'
import { counter } from '../../../../kernel/telemetry/metrics.ts'
import { synthesisOutcomes, synthesisTriggers } from './synthesis-queue.ts'

const changeKinds = ['propose', 'compact', 'edit', 'promote', 'demote', 'review', 'drift'] as const
export type ChangeKind = (typeof changeKinds)[number]
/** `held`: for an administrator. `refused`: the figures do not carry it, or the artifact is none that the model was shown. */
const changeOutcomes = ['committed', 'held', 'refused'] as const
export type ChangeOutcome = (typeof changeOutcomes)[number]

export const synthesisTotal = counter(
  'guide_synthesis_total',
  'Syntheses by the model of the guidance layer, by what led to them and what came of them',
  { trigger: synthesisTriggers, outcome: synthesisOutcomes },
)
export const synthesisChangeTotal = counter(
  'guide_synthesis_change_total',
  'Changes that the model of the guidance layer has suggested',
  { change: changeKinds, outcome: changeOutcomes },
)
export const synthesisDroppedTotal = counter(
  'guide_synthesis_dropped_total',
  'Triggers of a synthesis that were dropped, since too many waited',
  {},
)

export const synthesisMetrics = [synthesisTotal, synthesisChangeTotal, synthesisDroppedTotal]

/** A counter that appears with its first event shows no increase by it. */
export function countSynthesesFromZero(call: Call): void {
  for (const outcome of synthesisOutcomes) call.count(synthesisTotal, { trigger: 'l3_output', outcome }, 0)
  for (const outcome of changeOutcomes) call.count(synthesisChangeTotal, { change: 'propose', outcome }, 0)
  call.count(synthesisDroppedTotal, {}, 0)
}
