// The effect of guidance, by traces that had it and traces that went without it, as chance has chosen them.
import { type EffectVerdict, judgeEffect } from '../holdout/judge-effect.ts'
import { boundDifference, type Interval, type RateSample, rateOf } from '../learning/significance.ts'

/** Of artifacts and of sets of artifacts: further ones are not measured. */
const max_groups = 20_000

export type ArtifactArm = { readonly artifact_id: string; readonly isAttached: boolean }

type Arms = { readonly attached: RateSample; readonly held_out: RateSample }
const no_arms: Arms = { attached: { successes: 0, trials: 0 }, held_out: { successes: 0, trials: 0 } }

export type ArtifactEffect = Arms & {
  readonly artifact_id: string
  readonly verdict: EffectVerdict
  readonly difference: number
  readonly bounds: Interval
}

export type MeasuredUplift =
  | { readonly isMeasurable: false; readonly reason: string }
  | (Arms & { readonly isMeasurable: true; readonly difference: number; readonly bounds: Interval })

export class EffectStrata {
  readonly #ofArtifact = new Map<string, Arms>()
  /** By the set of artifacts that a trace was eligible for: within one, chance alone has chosen the arm. */
  readonly #ofSet = new Map<string, Arms>()

  add(arms: readonly ArtifactArm[], isSuccess: boolean): void {
    if (arms.length === 0) return
    for (const { artifact_id, isAttached } of arms) count(this.#ofArtifact, artifact_id, isAttached, isSuccess)
    const set = arms.map(({ artifact_id }) => artifact_id).sort()
    const isWhole = arms.every(({ isAttached }) => isAttached)
    count(this.#ofSet, JSON.stringify(set), isWhole, isSuccess)
  }

  /** Those with traces on both sides, the most harmful first. */
  listEffects(): ArtifactEffect[] {
    return [...this.#ofArtifact]
      .filter(([, arms]) => hasBoth(arms))
      .map(([artifact_id, arms]) => {
        const { verdict, difference: bounds } = judgeEffect(arms)
        return { artifact_id, ...arms, verdict, difference: differenceOf(arms), bounds }
      })
      .sort((a, b) => a.difference - b.difference || (a.artifact_id < b.artifact_id ? -1 : 1))
  }

  /**
   * Of whole sets against sets from which something was held out: differences within each set, weighted by Mantel and Haenszel,
   * with bounds of 99 % by the recovery of variances from Newcombe's intervals (Zou and Donner 2008).
   */
  measureUplift(): MeasuredUplift {
    const strata = [...this.#ofSet.values()].filter(hasBoth)
    if (strata.length === 0) return { isMeasurable: false, reason: this.#explainNothing() }
    const weights = strata.map(({ attached: { trials: a }, held_out: { trials: b } }) => (a * b) / (a + b))
    const sum = weights.reduce((total, weight) => total + weight, 0)
    const parts = strata.map((arms, at) => {
      const share = (weights[at] ?? 0) / sum
      const middle = differenceOf(arms)
      const { low, high } = boundDifference(arms.attached, arms.held_out)
      return { middle: share * middle, below: share * (middle - low), above: share * (high - middle) }
    })
    const difference = parts.reduce((total, { middle }) => total + middle, 0)
    const below = Math.hypot(...parts.map((each) => each.below))
    const above = Math.hypot(...parts.map((each) => each.above))
    const pooled = strata.reduce((total, arms) => {
      return { attached: addUp(total.attached, arms.attached), held_out: addUp(total.held_out, arms.held_out) }
    }, no_arms)
    return { isMeasurable: true, ...pooled, difference, bounds: { low: difference - below, high: difference + above } }
  }

  #explainNothing(): string {
    if (this.#ofArtifact.size === 0) return 'the input has no lineage: record it at a site that attaches guidance'
    return 'no set of artifacts has traces with all of it and traces that went without a part: the hold-out was off, or too few traces were recorded'
  }
}

function count(groups: Map<string, Arms>, key: string, isAttached: boolean, isSuccess: boolean): void {
  const known = groups.get(key)
  if (!known && groups.size >= max_groups) return
  const arms = known ?? no_arms
  const side = isAttached ? 'attached' : 'held_out'
  groups.set(key, { ...arms, [side]: addUp(arms[side], { successes: Number(isSuccess), trials: 1 }) })
}

function addUp(a: RateSample, b: RateSample): RateSample {
  return { successes: a.successes + b.successes, trials: a.trials + b.trials }
}

function hasBoth({ attached, held_out }: Arms): boolean {
  return attached.trials > 0 && held_out.trials > 0
}

function differenceOf({ attached, held_out }: Arms): number {
  return rateOf(attached) - rateOf(held_out)
}
