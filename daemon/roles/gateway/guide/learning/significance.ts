// Bounds on rates, and whether two rates differ by more than chance.

/** `successes` of `trials`. */
export type RateSample = { readonly successes: number; readonly trials: number }
export type Interval = { readonly low: number; readonly high: number }

/** Standard deviations of a two-sided bound of 99 %, and of one of 99.5 %. */
const z_of_99 = 2.575829
export const z_of_995 = 2.807034

/** Wilson's score interval (Wilson 1927); from 0 to 1 without a trial. */
export function boundRate({ successes, trials }: RateSample, z_score = z_of_99): Interval {
  if (trials === 0) return { low: 0, high: 1 }
  const rate = successes / trials
  const square = z_score ** 2
  const centre = rate + square / (2 * trials)
  const spread = z_score * Math.sqrt((rate * (1 - rate)) / trials + square / (4 * trials ** 2))
  const scale = 1 + square / trials
  return { low: Math.max(0, (centre - spread) / scale), high: Math.min(1, (centre + spread) / scale) }
}

/** Of rate a less rate b: the hybrid score interval of Newcombe (1998, method 10), made of both Wilson intervals. */
export function boundDifference(a: RateSample, b: RateSample, z_score = z_of_99): Interval {
  const [ofA, ofB] = [boundRate(a, z_score), boundRate(b, z_score)]
  const [rateA, rateB] = [rateOf(a), rateOf(b)]
  return {
    low: rateA - rateB - Math.hypot(rateA - ofA.low, ofB.high - rateB),
    high: rateA - rateB + Math.hypot(ofA.high - rateA, rateB - ofB.low),
  }
}

/** One half without a trial, where the interval is the widest. */
export function rateOf({ successes, trials }: RateSample): number {
  return trials === 0 ? 0.5 : successes / trials
}

/**
 * Fisher's exact test, one-sided: the chance that `a` has at least so many of the successes of both, if success does not depend on
 * the group. Exact for the small numbers that tools of a site have.
 */
export function testGreaterRate(a: RateSample, b: RateSample): number {
  const trials = a.trials + b.trials
  const successes = a.successes + b.successes
  const all = logChoose(trials, successes)
  const most = Math.min(a.trials, successes)
  let chance = 0
  for (let of = a.successes; of <= most; of += 1) {
    const term = Math.exp(logChoose(a.trials, of) + logChoose(b.trials, successes - of) - all)
    chance += term
    // The terms fall from the first one on where the rate of a is the greater one.
    if (term < chance * 1e-12) break
  }
  return Math.min(1, chance)
}

const logFactorials: number[] = [0]

function logFactorial(n: number): number {
  for (let at = logFactorials.length; at <= n; at += 1) logFactorials.push((logFactorials[at - 1] ?? 0) + Math.log(at))
  return logFactorials[n] ?? 0
}

function logChoose(n: number, k: number): number {
  return k < 0 || k > n ? Number.NEGATIVE_INFINITY : logFactorial(n) - logFactorial(k) - logFactorial(n - k)
}
