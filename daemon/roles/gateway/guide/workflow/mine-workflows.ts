// Guidance by rules from generated workflows: operators that succeed for an intent, as exemplars, and what they have in common.
import { formatRate, quoteText } from '../learning/hint-text.ts'
import type { MinedArtifact } from '../learning/mined-artifact.ts'
import { boundRate, type RateSample, rateOf } from '../learning/significance.ts'
import type { WorkflowGeneration } from './generation.ts'
import { workflow_tag } from './intents.ts'

/** As miners of traces need them: successes, and the lower bound of their rate. */
const least_support = 8
const least_rate = 0.5
/** As artifacts have them. */
const max_steps = 64
const max_traces = 16
/** Of the workflows of an intent that succeeded, from which an operator is a part of their pattern. */
const pattern_share = 0.8

type JudgedWorkflow = {
  readonly generation: WorkflowGeneration & { readonly steps: readonly string[] }
  readonly isSuccess: boolean
}

/**
 * Of one tenant and label; the same generations give the same artifacts. A workflow succeeded if most of its runs did; one that was
 * edited or discarded failed; one that was accepted and never ran is not evidence.
 */
export function* mineWorkflows(generations: Iterable<WorkflowGeneration>): Generator<undefined, MinedArtifact[]> {
  const judged: JudgedWorkflow[] = []
  for (const generation of generations) {
    const { steps } = generation
    const isSuccess = judge(generation)
    if (steps && steps.length <= max_steps && isSuccess !== undefined)
      judged.push({ generation: { ...generation, steps }, isSuccess })
    yield
  }
  const drafts: MinedArtifact[] = []
  const groupOf = ({ generation: { service, intent_class } }: JudgedWorkflow) => JSON.stringify([service, intent_class])
  for (const [, ofIntent] of [...Map.groupBy(judged, groupOf)].sort(([one], [other]) => (one < other ? -1 : 1))) {
    const bySteps = Map.groupBy(ofIntent, ({ generation: { steps } }) => JSON.stringify(steps))
    for (const [, group] of [...bySteps].sort(([one], [other]) => (one < other ? -1 : 1)))
      drafts.push(...draftTrajectory(group))
    if (bySteps.size > 1) drafts.push(...draftPattern(ofIntent))
    yield
  }
  return drafts
}

function draftTrajectory(group: readonly JudgedWorkflow[]): MinedArtifact[] {
  const evidence = findEvidence(group)
  const [first] = group
  if (!first || !evidence) return []
  const { service, intent_class, steps } = first.generation
  return [
    {
      ...{ type: 'DecisionTrajectory', key: JSON.stringify([intent_class, steps]), service_name: service },
      applicability: { intent_class, tags: [workflow_tag] },
      content: {
        ...{ intent_class, steps: [...steps], support: evidence.rate.trials, success_rate: rateOf(evidence.rate) },
        confidence: evidence.confidence,
      },
      rationale: `${formatRate(evidence.rate)} workflows with these operators succeeded; the others failed, were changed soon, or were removed.`,
      trace_ids: evidence.trace_ids,
    },
  ]
}

/** Operators that different workflows of one intent share. */
function draftPattern(group: readonly JudgedWorkflow[]): MinedArtifact[] {
  const evidence = findEvidence(group)
  const [first] = group
  if (!first || !evidence) return []
  const { service, intent_class } = first.generation
  const sets = group.flatMap(({ isSuccess, generation }) => (isSuccess ? [new Set(generation.steps)] : []))
  const operators = [...new Set(sets.flatMap((each) => [...each]))].filter(
    (operator) => sets.filter((each) => each.has(operator)).length >= pattern_share * sets.length,
  )
  if (operators.length === 0) return []
  return [
    {
      ...{ type: 'IntentPattern', key: JSON.stringify([workflow_tag, intent_class]), service_name: service },
      applicability: { intent_class, tags: [workflow_tag] },
      content: {
        ...{ intent_class, words: intent_class.match(/[\p{L}\p{N}]+/gu)?.slice(0, max_traces) ?? [] },
        ...{ operations: operators.slice(0, max_steps), support: evidence.rate.successes },
        confidence: evidence.confidence,
      },
      rationale: `Workflows of the kind ${quoteText(intent_class)} succeeded ${formatRate(evidence.rate)} times, and most of them have ${operators.map(quoteText).join(', ')}.`,
      trace_ids: evidence.trace_ids,
    },
  ]
}

type WorkflowEvidence = { readonly rate: RateSample; readonly confidence: number; readonly trace_ids: string[] }

/** Undefined: too few, or too few of them succeeded. */
function findEvidence(group: readonly JudgedWorkflow[]): WorkflowEvidence | undefined {
  const succeeded = group.filter(({ isSuccess }) => isSuccess)
  const rate = { successes: succeeded.length, trials: group.length }
  const confidence = boundRate(rate).low
  if (rate.successes < least_support || confidence < least_rate) return undefined
  const traces = [...new Set(succeeded.map(({ generation }) => generation.trace_id))]
  return { rate, confidence, trace_ids: traces.slice(-max_traces) }
}

function judge({ verdict, executions: { success, failure } }: WorkflowGeneration): boolean | undefined {
  if (verdict === 'edited' || verdict === 'discarded') return false
  return success + failure === 0 ? undefined : success > failure
}
