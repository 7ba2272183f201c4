// Detects that the success rate of a stream of outcomes has changed, with memory that grows with the logarithm of the stream.

/** Of the threshold's form for all points at once, so that it is not divided among tests. Streams of the tests fix what it costs. */
const false_alarm_share = 0.1
/** Buckets of one size, before the two oldest become one of twice the size: cuts lie within 1/20 of where the change is. */
const buckets_of_size = 20
/** A bucket of this size is dropped when there are too many: 2^20 outcomes are the largest window. */
const max_size = 2 ** 20
/** Neither side of a cut is judged by fewer outcomes. */
const least_side = 5

type Bucket = { size: number; successes: number }

/** Rates on both sides of the cut, and the number of outcomes since. */
export type RateChange = { readonly before: number; readonly after: number; readonly since: number }

/**
 * The window and its exponential histogram are those of ADWIN (Bifet and Gavaldà, "Learning from time-changing data with adaptive
 * windowing", 2007): the window grows while its parts agree, and loses its older part where they do not. The cut is tested by the
 * generalised likelihood ratio of Bernoulli outcomes (Besson, Kaufmann, Maillard and Seznec, "Efficient change-point detection for
 * tackling piecewise-stationary bandits", 2022) in place of ADWIN's bound for any bounded value: it is tighter, most of all for
 * rates near 0 and 1, where tools and agents are.
 */
export class ChangeDetector {
  /** From the newest to the oldest. */
  readonly #buckets: Bucket[] = []
  #size = 0
  #successes = 0

  /** Of the window: the outcomes since the last change. */
  get size(): number {
    return this.#size
  }

  get bucketCount(): number {
    return this.#buckets.length
  }

  /** Returns the change that this outcome proves, if it does. */
  add(isSuccess: boolean): RateChange | undefined {
    this.#buckets.unshift({ size: 1, successes: isSuccess ? 1 : 0 })
    this.#size += 1
    this.#successes += isSuccess ? 1 : 0
    this.#merge()
    const cut = this.#findCut()
    if (!cut) return undefined
    this.#dropBefore(cut.at)
    return cut.change
  }

  #merge(): void {
    let first = 0
    for (let size = 1; ; size *= 2) {
      let end = first
      while (this.#buckets[end]?.size === size) end += 1
      if (end - first <= buckets_of_size) return
      const oldest = this.#buckets[end - 1] as Bucket
      const next = this.#buckets[end - 2] as Bucket
      if (size === max_size) this.#dropBefore(end - 1)
      else this.#buckets.splice(end - 2, 2, { size: size * 2, successes: oldest.successes + next.successes })
      first = end - 2
    }
  }

  /** The cut with the largest likelihood ratio, if that passes the threshold. */
  #findCut(): { readonly at: number; readonly change: RateChange } | undefined {
    const threshold = Math.log((3 * this.#size ** 1.5) / false_alarm_share)
    const whole = logLikelihood(this.#successes, this.#size)
    let best = threshold
    let found: { readonly at: number; readonly change: RateChange } | undefined
    let size = 0
    let successes = 0
    for (const [index, bucket] of this.#buckets.entries()) {
      size += bucket.size
      successes += bucket.successes
      const older = this.#size - size
      if (size < least_side) continue
      if (older < least_side) return found
      const olderSuccesses = this.#successes - successes
      const ratio = logLikelihood(successes, size) + logLikelihood(olderSuccesses, older) - whole
      if (ratio <= best) continue
      best = ratio
      found = { at: index + 1, change: { before: olderSuccesses / older, after: successes / size, since: size } }
    }
    return found
  }

  #dropBefore(at: number): void {
    for (const bucket of this.#buckets.splice(at)) {
      this.#size -= bucket.size
      this.#successes -= bucket.successes
    }
  }
}

/** Of that many successes, at the rate that makes them most likely. */
function logLikelihood(successes: number, size: number): number {
  return entropyTerm(successes, size) + entropyTerm(size - successes, size)
}

function entropyTerm(part: number, whole: number): number {
  return part === 0 ? 0 : part * Math.log(part / whole)
}
