// Records each request of a thread: one audit line before the response goes out, the counters, and the state of the dependencies.

import type { DependencyObservation } from '../../../kernel/role/dependency.ts'
import type { Metric } from '../../../kernel/telemetry/metrics.ts'
import { answerTotal, lostRecordTotal, requestTotal } from '../metrics.ts'
import { lookUpReason, type ProxyReason } from '../reasons.ts'
import { formatRecordLine, type RequestAuditEntry } from '../record/record-line.ts'
import type { AuditLineWriter } from './audit-line-writer.ts'
import type { CounterDelta, DependencyObservations, ProxyDependency } from './thread-report.ts'

export class RequestRecorder {
  readonly #journal: AuditLineWriter
  readonly #schedule: (task: () => void) => void
  readonly #counts = new Map<string, { added: CounterDelta; by: number }>()
  /** Counted for every request, so kept apart from the labelled counters until `takeDeltas`. */
  readonly #requests = new Map<ProxyReason, number>()
  readonly #answers = new Map<number, number>()
  readonly #observations = new Map<ProxyDependency, DependencyObservation>()
  #waiting_replies: (() => void)[] = []
  #lost = 0
  #isScheduled = false
  /** The journal is full: lines are counted as lost. */
  isFull = false

  /** `schedule` runs the task at the end of this turn of the event loop, as `setImmediate` does. */
  constructor(journal: AuditLineWriter, schedule: (task: () => void) => void) {
    this.#journal = journal
    this.#schedule = schedule
  }

  /**
   * Records one request, and calls `answer` once the line is with the operating system, so that a killed process has answered
   * no request without a record. All lines of a turn of the event loop are one write. A failing disk delays no response.
   */
  record(entry: RequestAuditEntry, answer: () => void): void {
    if (this.isFull) this.#lost += 1
    else this.#journal.add(formatRecordLine(entry))
    this.#waiting_replies.push(answer)
    this.#requests.set(entry.reason, (this.#requests.get(entry.reason) ?? 0) + 1)
    this.#answers.set(entry.status, (this.#answers.get(entry.status) ?? 0) + 1)
    if (this.#isScheduled) return
    this.#isScheduled = true
    this.#schedule(() => this.#flush())
  }

  count(metric: Metric, labels: readonly string[], by: number): void {
    const key = `${metric.name} ${labels.join(' ')}`
    const counted = this.#counts.get(key)
    if (counted) counted.by += by
    else this.#counts.set(key, { added: [metric.name, labels, 0], by })
  }

  /** Keeps the last observation of a dependency. */
  observe(dependency: ProxyDependency, last: DependencyObservation): void {
    this.#observations.set(dependency, last)
  }

  /** Observations since the last call. */
  takeObservations(): DependencyObservations {
    const all = Object.fromEntries(this.#observations)
    this.#observations.clear()
    return all
  }

  /** Increments since the last call. */
  takeDeltas(): CounterDelta[] {
    const lost_lines = this.#journal.lost + this.#lost
    if (lost_lines > this.#reported_lost) this.count(lostRecordTotal, [], lost_lines - this.#reported_lost)
    this.#reported_lost = lost_lines
    for (const [reason, by] of this.#requests) this.count(requestTotal, [lookUpReason(reason).verdict, reason], by)
    for (const [status, by] of this.#answers) this.count(answerTotal, [String(status)], by)
    this.#requests.clear()
    this.#answers.clear()
    const all = [...this.#counts.values()].map(({ added: [metric, labels], by }): CounterDelta => [metric, labels, by])
    this.#counts.clear()
    return all
  }
  #reported_lost = 0

  #flush(): void {
    this.#isScheduled = false
    this.#journal.flush()
    const after = this.#waiting_replies
    this.#waiting_replies = []
    for (const answer of after) answer()
  }
}
