// Times the combiner wherever it decides: steps of an update are pure, so a duration is observed after the update.
import type { Call } from '../../../kernel/operation/call.ts'
import { type DecideSorted, decideSorted } from '../combine/decide.ts'
import { combinerSeconds } from '../metrics.ts'

export type DecisionTimer = {
  /** `decideSorted`, timed. */
  readonly decide: DecideSorted
  /** Enters the latest decision since the last call into the metric: of a step that ran twice, the one that counted. */
  readonly observe: () => void
}

export function timeDecisions(call: Pick<Call, 'monotonic' | 'observe'>): DecisionTimer {
  let observeLatest = () => {}
  return {
    decide(policy, sorted, contributors) {
      const began = call.monotonic()
      const decision = decideSorted(policy, sorted, contributors)
      const elapsed_s = (call.monotonic() - began) / 1_000
      observeLatest = () => call.observe(combinerSeconds, { method: policy.combination_method }, elapsed_s)
      return decision
    },
    observe() {
      observeLatest()
      observeLatest = () => {}
    },
  }
}
