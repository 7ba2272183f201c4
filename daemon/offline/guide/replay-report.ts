// The figures of a replay.
import type { Artifact } from '../../roles/gateway/guide/artifact/model.ts'
import { boundRate, type Interval, type RateSample, rateOf } from '../../roles/gateway/guide/learning/significance.ts'
import type { DriftFigures, FoundDrift, LabelledChange } from '../../roles/gateway/guide/replay/drift-delays.ts'
import type { ArtifactEffect, MeasuredUplift } from '../../roles/gateway/guide/replay/effect-strata.ts'
import type { CurvePoint, CurveSpan } from '../../roles/gateway/guide/replay/learning-curve.ts'
import type { TraceFaults } from './trace-lines.ts'

/** Further ones are not measured. */
const max_changes = 10_000

export class ReplayTally {
  observations = 0
  traces = 0
  lineage_events = 0
  readonly sums = { successes: 0, hit_traces: 0, all_calls: 0, calls: 0, failures: 0, foreseen: 0 }
  readonly changes: (LabelledChange & { readonly events: number })[] = []
  readonly drifts: FoundDrift[] = []
  first_ms = Number.POSITIVE_INFINITY
  last_ms = Number.NEGATIVE_INFINITY

  addObservation(at_ms: number): void {
    this.observations += 1
    this.first_ms = Math.min(this.first_ms, at_ms)
    this.last_ms = Math.max(this.last_ms, at_ms)
  }

  addTrace({ successes, calls, all_calls, failures, foreseen }: CurvePoint): void {
    this.traces += 1
    this.sums.successes += successes
    this.sums.hit_traces += Number(calls > 0)
    this.sums.all_calls += all_calls
    this.sums.calls += calls
    this.sums.failures += failures
    this.sums.foreseen += foreseen
  }

  addChange(change: LabelledChange): void {
    if (this.changes.length < max_changes) this.changes.push({ ...change, events: this.observations })
  }

  addDrift(drift: Omit<FoundDrift, 'events'>): void {
    this.drifts.push({ ...drift, events: this.observations })
  }
}

/** A rate with Wilson's bounds of 99 %; null without a trial. */
export type BoundedRate = RateSample & { readonly rate: number | null; readonly bounds: Interval }

export type LearntArtifact = {
  readonly artifact_id: string
  readonly type: string
  readonly status: string
  readonly learnt_at: string
  readonly rationale: string
}

export type ReplayReport = {
  readonly ended: 'end_of_input' | 'time_limit' | 'interrupted'
  readonly observations: number
  readonly lineage_events: number
  readonly bad_lines: number
  readonly first_bad_line?: string
  readonly from?: string
  readonly until?: string
  /** What was learnt after it is in no figure, and neither are traces before it. */
  readonly learn_until?: string
  readonly measured_traces: number
  readonly success_rate: BoundedRate
  readonly hit_rate: { readonly traces: BoundedRate; readonly calls: BoundedRate; readonly failures: BoundedRate }
  readonly uplift: MeasuredUplift
  readonly harm: readonly ArtifactEffect[]
  readonly effects: readonly ArtifactEffect[]
  readonly drift: DriftFigures
  readonly learning_curve: readonly CurveSpan[]
  readonly learnt: readonly LearntArtifact[]
  readonly warnings: Readonly<Record<string, number>>
}

export type ReportParts = {
  readonly ended: ReplayReport['ended']
  readonly faults: TraceFaults
  readonly tally: ReplayTally
  readonly split_ms: number | undefined
  readonly learnt: readonly { readonly id: string; readonly value: Artifact }[]
  readonly effects: readonly ArtifactEffect[]
  readonly uplift: MeasuredUplift
  readonly drift: DriftFigures
  readonly curve: readonly CurveSpan[]
  readonly warnings: ReadonlyMap<string, number>
}

export function buildReport(parts: ReportParts): ReplayReport {
  const { ended, faults, tally, split_ms, learnt, effects, uplift, drift, curve, warnings } = parts
  const { traces, sums } = tally
  return {
    ...{ ended, observations: tally.observations, lineage_events: tally.lineage_events },
    bad_lines: faults.bad_lines,
    ...(faults.first === undefined ? {} : { first_bad_line: faults.first }),
    ...(tally.observations === 0 ? {} : { from: toIso(tally.first_ms), until: toIso(tally.last_ms) }),
    ...(split_ms === undefined ? {} : { learn_until: toIso(split_ms) }),
    measured_traces: traces,
    success_rate: boundedRate(sums.successes, traces),
    hit_rate: {
      traces: boundedRate(sums.hit_traces, traces),
      calls: boundedRate(sums.calls, sums.all_calls),
      failures: boundedRate(sums.foreseen, sums.failures),
    },
    ...{ uplift, harm: effects.filter(({ verdict }) => verdict === 'harm'), effects, drift, learning_curve: curve },
    learnt: learnt
      .map(({ id, value }) => ({
        ...{ artifact_id: id, type: value.type, status: value.status },
        ...{ learnt_at: toIso(value.create_ts), rationale: value.rationale },
      }))
      .sort((a, b) =>
        a.learnt_at < b.learnt_at ? -1 : a.learnt_at > b.learnt_at ? 1 : a.artifact_id < b.artifact_id ? -1 : 1,
      ),
    warnings: Object.fromEntries(warnings),
  }
}

function boundedRate(successes: number, trials: number): BoundedRate {
  const sample = { successes, trials }
  return { ...sample, rate: trials === 0 ? null : rateOf(sample), bounds: boundRate(sample) }
}

const toIso = (ms: number) => new Date(ms).toISOString()
