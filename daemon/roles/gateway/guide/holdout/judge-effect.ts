// Whether an artifact helps or harms, by the traces that had it and those that went without it.
import { boundDifference, type Interval, type RateSample, z_of_995 } from '../learning/significance.ts'

export type EffectSamples = { readonly attached: RateSample; readonly held_out: RateSample }

/** `pending`: neither is proven yet. */
export type EffectVerdict = 'harm' | 'benefit' | 'pending'
export type Effect = { readonly verdict: EffectVerdict; readonly difference: Interval }

/** Of each side, before anything is judged. */
const least_traces = 8

/** By bounds of 99.5 %, since there are some ten looks in the life of an artifact. */
export function judgeEffect({ attached, held_out }: EffectSamples): Effect {
  const difference = boundDifference(attached, held_out, z_of_995)
  if (Math.min(attached.trials, held_out.trials) < least_traces) return { verdict: 'pending', difference }
  return { verdict: difference.high < 0 ? 'harm' : difference.low > 0 ? 'benefit' : 'pending', difference }
}

const first_look = 16

/** Looks are after 16, 32, 64 traces and so on: a bound that is looked at after every trace would be crossed by chance. */
export function isLook({ attached, held_out }: EffectSamples): boolean {
  const traces = attached.trials + held_out.trials
  return traces >= first_look && Number.isInteger(Math.log2(traces / first_look))
}

const weight_step = 1.5
const most_weight = 10

/** Of an artifact whose benefit is proven: it is chosen before others, within a bound. */
export function raiseWeight(weight: number): number {
  return Math.min(most_weight, weight * weight_step)
}
