// What a thread writes down: for each request one audit line before its answer goes out, counts, and how its dependencies were.
import type { SegmentWriter } from '../../../adapters/audit/segments/segment-writer.ts'
import type { Metric } from '../../kernel/metrics.ts'
import { answerTotal, lostTotal, requestTotal } from '../../roles/proxy/metrics.ts'
import { type Reason, whyOf } from '../../roles/proxy/reasons.ts'
import { lineOf, type Noted } from '../../roles/proxy/record/line.ts'
import type { Added, AllLastAsked, Dependency, LastAsked } from './messages.ts'

export class Notes {
  readonly #journal: SegmentWriter
  readonly #counts = new Map<string, { added: Added; by: number }>()
  /** Brought into the counts when those are asked for: there is one of each for every request. */
  readonly #requests = new Map<Reason, number>()
  readonly #answers = new Map<number, number>()
  readonly #asked = new Map<Dependency, LastAsked>()
  #after: (() => void)[] = []
  #lost = 0
  #isScheduled = false
  /** The journal holds as much as it may: lines are counted as lost. */
  isFull = false

  constructor(journal: SegmentWriter) {
    this.#journal = journal
  }

  /**
   * Notes one request, and answers it once its line is with the operating system: a process that is killed has answered
   * nothing that is not noted. All lines of a turn of the event loop are one write. A failing disk holds up nobody.
   */
  note(noted: Noted, answer: () => void): void {
    if (this.isFull) this.#lost += 1
    else this.#journal.add(lineOf(noted))
    this.#after.push(answer)
    this.#requests.set(noted.reason, (this.#requests.get(noted.reason) ?? 0) + 1)
    this.#answers.set(noted.status, (this.#answers.get(noted.status) ?? 0) + 1)
    if (this.#isScheduled) return
    this.#isScheduled = true
    setImmediate(() => this.#turn())
  }

  count(metric: Metric, labels: readonly string[], by: number): void {
    const key = `${metric.name} ${labels.join(' ')}`
    const found = this.#counts.get(key)
    if (found) found.by += by
    else this.#counts.set(key, { added: [metric.name, labels, 0], by })
  }

  /** A dependency was asked, and this is what came of it. */
  asked(dependency: Dependency, last: LastAsked): void {
    this.#asked.set(dependency, last)
  }

  /** Since this was last asked for. */
  takenAsked(): AllLastAsked {
    const all = Object.fromEntries(this.#asked)
    this.#asked.clear()
    return all
  }

  /** What was counted since this was last asked for. */
  taken(): Added[] {
    const lost = this.#journal.lost + this.#lost
    if (lost > this.#told_lost) this.count(lostTotal, [], lost - this.#told_lost)
    this.#told_lost = lost
    for (const [reason, by] of this.#requests) this.count(requestTotal, [whyOf(reason).verdict, reason], by)
    for (const [status, by] of this.#answers) this.count(answerTotal, [String(status)], by)
    this.#requests.clear()
    this.#answers.clear()
    const all = [...this.#counts.values()].map(({ added: [metric, labels], by }): Added => [metric, labels, by])
    this.#counts.clear()
    return all
  }
  #told_lost = 0

  #turn(): void {
    this.#isScheduled = false
    this.#journal.flush()
    const after = this.#after
    this.#after = []
    for (const answer of after) answer()
  }
}
