// The learning layer in simulated time: traces of an agent, graphs, miners, check for drift, selection, hold-out and evaluator, by
// the functions that the gateway runs.

import { runToEnd } from '../../../daemon/kernel/role/run-to-end.ts'
import { checkMined } from '../../../daemon/roles/gateway/guide/drift/check-mined.ts'
import {
  type ArtifactAssessment,
  type AssessmentResult,
  assessTrace,
  first_assessment,
} from '../../../daemon/roles/gateway/guide/evaluation/assess-trace.ts'
import { isHeldOut, shareHeldOut } from '../../../daemon/roles/gateway/guide/holdout/is-held-out.ts'
import { raiseWeight } from '../../../daemon/roles/gateway/guide/holdout/judge-effect.ts'
import { mineTraces } from '../../../daemon/roles/gateway/guide/learning/mine-traces.ts'
import { type MinedArtifact, nameMined } from '../../../daemon/roles/gateway/guide/learning/mined-artifact.ts'
import { readTrace, type TraceRecord } from '../../../daemon/roles/gateway/guide/learning/trace-record.ts'
import { seededRandom } from '../random/seeded-random.ts'
import { type AttachedGuidance, runAgent } from './synthetic-agent.ts'
import { viewTraces } from './view-traces.ts'

export type ExperimentTerms = {
  readonly seed: number
  /** Traces before anything is learnt, and after it. */
  readonly training: number
  readonly traces: number
  readonly isAttachEnabled: boolean
  readonly planted?: AttachedGuidance
  /** The tools take whatever the agent does, and fail by chance alone. */
  readonly isFaultless?: boolean
}

type ActiveArtifact = AttachedGuidance & { readonly id: string; assessment: ArtifactAssessment; weight: number }

export type DemotedArtifact = { readonly id: string; readonly result: AssessmentResult; readonly after: number }

export type ExperimentResult = {
  /** Of each trace after learning. */
  readonly successes: readonly boolean[]
  readonly learnt: readonly MinedArtifact[]
  readonly held: readonly MinedArtifact[]
  readonly demoted: readonly DemotedArtifact[]
  /** Types of the artifacts that are active at the end. */
  readonly kept: readonly string[]
  /** Artifacts whose benefit was proven. */
  readonly proven: readonly string[]
}

export const planted_id = 'planted'
const terms = {
  weights: { l3_error: 3, l3_schema_mismatch: 3, user_feedback: 1.5, evaluator_confidence: 0.5 },
  fast_demotion: 2,
}
const trace_ms = 60_000

export function runExperiment(of: ExperimentTerms): ExperimentResult {
  const random = seededRandom(of.seed)
  const runTrace = (at: number, guidance: readonly AttachedGuidance[]) => {
    const trace_id = (of.seed * 1_000_000 + at).toString(16).padStart(32, '0')
    return readTrace(runAgent({ random, trace_id, now: at * trace_ms, guidance, isFaultless: of.isFaultless ?? false }))
  }
  const training = Array.from({ length: of.training }, (_, at) => runTrace(at + 1, []))
  const { learnt, held } = learn(training)
  const active: ActiveArtifact[] = learnt.map((mined) => activate(nameMined('', mined), mined))
  if (of.planted) active.push(activate(planted_id, of.planted))
  const demoted: DemotedArtifact[] = []
  const proven: string[] = []
  const successes = Array.from({ length: of.traces }, (_, at) => {
    const chosen = of.isAttachEnabled ? active.filter((artifact) => !isHeldOutFrom(artifact, of.seed, at)) : []
    const trace = runTrace(of.training + at + 1, chosen.toSorted(compareRanks))
    if (!of.isAttachEnabled) return trace.isSuccess
    for (const artifact of [...active]) {
      const result = assess(artifact, trace, chosen.includes(artifact))
      if (result === 'benefit') proven.push(artifact.id)
      if (result !== 'harm' && result !== 'low_score') continue
      active.splice(active.indexOf(artifact), 1)
      demoted.push({ id: artifact.id, result, after: countEligible(artifact.assessment) })
    }
    return trace.isSuccess
  })
  return { successes, learnt, held, demoted, proven, kept: active.map(({ type }) => type) }
}

function learn(traces: readonly TraceRecord[]): { learnt: MinedArtifact[]; held: MinedArtifact[] } {
  const view = viewTraces(traces)
  const mined = runToEnd(mineTraces(traces))
  const isHeld = (each: MinedArtifact) => checkMined(each, view).length > 0
  return { learnt: mined.filter((each) => !isHeld(each)), held: mined.filter(isHeld) }
}

function activate(id: string, { type, content, applicability }: AttachedGuidance): ActiveArtifact {
  return { id, type, content, applicability, assessment: first_assessment, weight: 1 } as ActiveArtifact
}

/** An artifact that somebody has planted by hand is never held out: its score alone finds it. */
function isHeldOutFrom({ id, assessment }: ActiveArtifact, seed: number, at: number): boolean {
  if (id === planted_id) return false
  return isHeldOut(`${seed}.${at}`, id, shareHeldOut(countEligible(assessment)))
}

function countEligible({ attached, held_out }: ArtifactAssessment): number {
  return attached.trials + held_out.trials
}

function assess(artifact: ActiveArtifact, trace: TraceRecord, isAttached: boolean): AssessmentResult {
  const { assessment, result } = assessTrace(
    artifact.assessment,
    artifact,
    { trace, isAttached },
    {
      ...terms,
      isHoldOutEnabled: artifact.id !== planted_id,
    },
  )
  artifact.assessment = assessment
  if (result === 'benefit') artifact.weight = raiseWeight(artifact.weight)
  return result
}

/** The sort key of document 002, as far as artifacts of one age differ by it. */
function compareRanks(a: ActiveArtifact, b: ActiveArtifact): number {
  return b.assessment.evaluation.score - a.assessment.evaluation.score || b.weight - a.weight
}
