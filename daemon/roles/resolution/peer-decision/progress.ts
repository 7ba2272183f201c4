// How far this process has read the decisions of peers. In memory: reading them again changes nothing.

/** Time after which all decisions are read again: a run may have stored the match of an earlier one. */
const full_walk_interval_ms = 600_000
/** Overlap with the walk before, so that decisions that were stored late are found. */
const overlap_ms = 600_000

export class PeerDecisionProgress {
  #next_full_walk_ms = 0
  #newest_ms = 0

  /** Time before which decisions need not be read now, in epoch milliseconds. */
  beginWalk(now: number): number {
    if (now < this.#next_full_walk_ms) return this.#newest_ms - overlap_ms
    return 0
  }

  /** `since`: result of `beginWalk`; `newest`: time of the newest decision that the walk has read. Both in epoch milliseconds. */
  endWalk(since: number, newest: number, now: number): void {
    if (since === 0) this.#next_full_walk_ms = now + full_walk_interval_ms
    this.#newest_ms = Math.max(this.#newest_ms, newest)
  }
}
