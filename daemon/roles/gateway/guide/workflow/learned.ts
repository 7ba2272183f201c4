// Outcomes of decisions for the graphs, and trajectories that succeed often: the values that the learner takes from generations of workflows.
import { sha256 } from '../../../../kernel/encoding/canonical-json.ts'
import { type Label, labelKey } from '../../../../kernel/label/label.ts'
import type { ArtifactContent } from '../artifact/content.ts'
import type { OutcomeLabel } from '../graph/model.ts'
import type { GenerationVerdict, WorkflowGeneration } from './outcomes.ts'

export type WorkflowOutcome = {
  readonly tenant_id: string
  readonly label?: Label | undefined
  readonly trace_id: string
  readonly at: number
  /** Of the node of a decision point in the outcome graph: the service and the operators. */
  readonly node_label: string
  readonly outcome: OutcomeLabel
  readonly count: number
}

const outcomeOfVerdict: Readonly<Record<GenerationVerdict, OutcomeLabel>> = {
  accepted: 'feedback_up',
  edited: 'feedback_down',
  discarded: 'feedback_abandoned',
}

/** None for a generation whose graph is not known. */
export function listWorkflowOutcomes(generations: readonly WorkflowGeneration[]): WorkflowOutcome[] {
  return generations.flatMap(({ tenant_id, label, trace_id, at, service, steps, verdict, executions }) => {
    if (!steps) return []
    const decision = { tenant_id, label, trace_id, at, node_label: labelDecision(service, steps) }
    const { success, failure } = executions
    return [
      ...(verdict ? [{ ...decision, outcome: outcomeOfVerdict[verdict], count: 1 }] : []),
      ...(success > 0 ? [{ ...decision, outcome: 'success' as const, count: success }] : []),
      ...(failure > 0 ? [{ ...decision, outcome: 'error' as const, count: failure }] : []),
    ]
  })
}

const max_label = 200

/** `<service>/workflow:<operators>`, or a digest of them where they are too long for a label. */
function labelDecision(service: string, steps: readonly string[]): string {
  const path = steps.join('>')
  return `${service}/workflow:${path.length > max_label ? sha256(path).slice(0, 32) : path}`
}

export type TrajectoryProposal = {
  readonly type: 'DecisionTrajectory'
  /** The finding apart from its numbers, so that it is found again as the same artifact. */
  readonly key: string
  readonly tenant_id: string
  readonly label?: Label | undefined
  readonly service_name: string
  readonly applicability: { readonly intent_class: string; readonly tags: string[] }
  readonly content: ArtifactContent<'DecisionTrajectory'>
  readonly rationale: string
  readonly trace_ids: string[]
}

/** As artifacts have them. */
const max_steps = 64
const max_traces = 64

/**
 * Proposes the operators that the workflows of an intent had, with the share of them that succeeded: those whose runs did, of those that ran,
 * were edited or were discarded. One that was accepted and never ran is not evidence. Kept apart by tenant and label.
 */
export function proposeTrajectories(
  generations: readonly WorkflowGeneration[],
  least_support: number,
): TrajectoryProposal[] {
  const judged = generations.filter(
    ({ steps, ...each }) => steps && steps.length <= max_steps && judge(each) !== undefined,
  )
  const groups = Map.groupBy(judged, ({ tenant_id, label, service, intent_class, steps }) =>
    JSON.stringify([tenant_id, label ? labelKey(label) : '', service, intent_class, steps]),
  )
  return [...groups.values()].flatMap((group) => {
    const [first] = group
    if (!first?.steps || group.length < least_support) return []
    const { tenant_id, label, service, intent_class, steps } = first
    const support = group.length
    const succeeded = group.filter(judge).length
    const traces = [...new Set(group.map(({ trace_id }) => trace_id))]
    return [
      {
        ...{ type: 'DecisionTrajectory' as const, tenant_id, label, service_name: service },
        key: JSON.stringify([intent_class, steps]),
        applicability: { intent_class, tags: ['workflow'] },
        content: { intent_class, steps: [...steps], support, success_rate: succeeded / support },
        rationale: `${succeeded} of ${support} workflows with these operators succeeded; the others failed, were changed soon, or were removed`,
        trace_ids: traces.slice(-max_traces),
      },
    ]
  })
}

/** Whether it succeeded; undefined for no evidence. */
function judge({
  verdict,
  executions: { success, failure },
}: Pick<WorkflowGeneration, 'verdict' | 'executions'>): boolean | undefined {
  if (verdict === 'edited' || verdict === 'discarded') return false
  return success + failure === 0 ? undefined : success > failure
}
