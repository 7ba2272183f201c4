// Features whose presence changes how often calls succeed by more than chance.
import { boundDifference, type RateSample, rateOf, testGreaterRate } from './significance.ts'

/** One call: what was true of it, and whether it counts (as a failure, or as a success). */
export type CallTrial = { readonly features: readonly string[]; readonly isHit: boolean; readonly caller: string }

export type Contrast = { readonly feature: string; readonly present: RateSample; readonly absent: RateSample }

export type ContrastTerms = {
  /** Calls that a found feature leaves over: the others are explained by it. */
  readonly explains: 'present' | 'absent'
  /** Callers with a hit that a feature needs: a value that one person alone uses is not passed on to others. */
  readonly least_callers: number
}

/** Of the calls on either side. */
const least_support = 8
/** For one tool and run; shared among all features that are tested (Bonferroni), since each test may be wrong by chance. */
const false_find_rate = 0.001
const max_found = 4

/**
 * Features with more hits where they are present, the most certain first. Each is proven on the calls that those before it do not
 * explain, so that one cause is not found again under the name of all that came with it.
 */
export function* findContrasts(calls: readonly CallTrial[], terms: ContrastTerms): Generator<undefined, Contrast[]> {
  const found: Contrast[] = []
  let left = calls
  while (found.length < max_found) {
    const best = yield* findBest(left, terms)
    if (!best) break
    found.push(best)
    const keeps = terms.explains === 'absent'
    left = left.filter(({ features }) => features.includes(best.feature) === keeps)
    yield
  }
  return found
}

/** Whether the difference goes once the calls of any one caller are left out: no one may teach all others alone, however much they send. */
function restsOnOneCaller(calls: readonly CallTrial[], feature: string): boolean {
  const whole = countSides(calls, feature)
  for (const ofCaller of Map.groupBy(calls, ({ caller }) => caller).values()) {
    const own = countSides(ofCaller, feature)
    const rest = { present: subtract(whole.present, own.present), absent: subtract(whole.absent, own.absent) }
    if (Math.min(rest.present.trials, rest.absent.trials) < least_rest) return true
    if (rateOf(rest.present) - rateOf(rest.absent) < least_difference) return true
  }
  return false
}

/** Calls of others on either side: one of them may fail by chance. */
const least_rest = 4
/** Between the rates of both sides, without any one caller. */
const least_difference = 0.1

function countSides(calls: readonly CallTrial[], feature: string) {
  const present = { successes: 0, trials: 0 }
  const absent = { successes: 0, trials: 0 }
  for (const { features, isHit } of calls) {
    const side = features.includes(feature) ? present : absent
    side.trials += 1
    side.successes += Number(isHit)
  }
  return { present, absent }
}

function subtract(whole: RateSample, part: RateSample): RateSample {
  return { successes: whole.successes - part.successes, trials: whole.trials - part.trials }
}

type FeatureCount = { trials: number; successes: number; readonly callers: Set<string> }

function* findBest(calls: readonly CallTrial[], terms: ContrastTerms): Generator<undefined, Contrast | undefined> {
  const counts = yield* countFeatures(calls, terms.least_callers)
  const hits = calls.filter(({ isHit }) => isHit).length
  const tested = [...counts].filter(
    ([, { trials, callers }]) =>
      trials >= least_support && calls.length - trials >= least_support && callers.size >= terms.least_callers,
  )
  let best: Contrast | undefined
  let least = false_find_rate / Math.max(1, tested.length)
  for (const [feature, { trials, successes }] of tested.toSorted(([a], [b]) => (a < b ? -1 : 1))) {
    const present = { successes, trials }
    const absent = { successes: hits - successes, trials: calls.length - trials }
    const chance = testGreaterRate(present, absent)
    yield
    if (chance >= least || boundDifference(present, absent).low <= 0 || restsOnOneCaller(calls, feature)) continue
    least = chance
    best = { feature, present, absent }
  }
  return best
}

function* countFeatures(
  calls: readonly CallTrial[],
  least_callers: number,
): Generator<undefined, Map<string, FeatureCount>> {
  const counts = new Map<string, FeatureCount>()
  for (const { features, isHit, caller } of calls) {
    for (const feature of features) {
      const count = counts.get(feature) ?? { trials: 0, successes: 0, callers: new Set() }
      counts.set(feature, count)
      count.trials += 1
      if (!isHit) continue
      count.successes += 1
      if (count.callers.size < least_callers) count.callers.add(caller)
    }
    yield
  }
  return counts
}
