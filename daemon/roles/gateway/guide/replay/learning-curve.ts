// How figures develop over the traces of a replay: in spans of equal numbers of traces, at most so many however long it is.
import type { TraceHits } from './find-hits.ts'

const max_spans = 20
const first_span = 50

export type CurveSpan = TraceHits & {
  /** Time of the last trace in it. */
  readonly until_ts: number
  readonly traces: number
  readonly successes: number
  readonly all_calls: number
  /** Active artifacts at its end. */
  readonly artifacts: number
}

export type CurvePoint = Omit<CurveSpan, 'traces'>

export class LearningCurve {
  #spans: CurveSpan[] = []
  #size = first_span

  add(point: CurvePoint): void {
    const last = this.#spans.at(-1)
    const one = { ...point, traces: 1 }
    if (last && last.traces < this.#size) this.#spans[this.#spans.length - 1] = merge(last, one)
    else this.#spans.push(one)
    if (this.#spans.length <= max_spans) return
    const halved: CurveSpan[] = []
    for (let at = 0; at < this.#spans.length; at += 2) {
      const [first, second] = this.#spans.slice(at, at + 2)
      if (first) halved.push(second ? merge(first, second) : first)
    }
    this.#spans = halved
    this.#size *= 2
  }

  list(): readonly CurveSpan[] {
    return this.#spans
  }
}

function merge(first: CurveSpan, second: CurveSpan): CurveSpan {
  return {
    until_ts: second.until_ts,
    artifacts: second.artifacts,
    traces: first.traces + second.traces,
    successes: first.successes + second.successes,
    all_calls: first.all_calls + second.all_calls,
    calls: first.calls + second.calls,
    failures: first.failures + second.failures,
    foreseen: first.foreseen + second.foreseen,
  }
}
