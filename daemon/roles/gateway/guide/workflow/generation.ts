// One generation of a workflow: a call that made or replaced its graph, and what came of it.
import type { Label } from '../../../../kernel/label/label.ts'

/** `accepted`: live as it was generated. `edited`: its graph was changed soon. `discarded`: removed before a run succeeded. */
export type GenerationVerdict = 'accepted' | 'edited' | 'discarded'

/** One call that made or replaced the graph of a workflow, and its outcome. */
export type WorkflowGeneration = {
  readonly tenant_id: string
  readonly label?: Label | undefined
  readonly service: string
  readonly object: string
  /** Of the effect or pipeline. */
  readonly uid: string
  readonly trace_id: string
  /** That of its trace; of a call that no message led to, the tool. */
  readonly intent_class: string
  readonly at: number
  /** Operators in their order; undefined where the graph is not known. */
  readonly steps: readonly string[] | undefined
  /** Undefined while nothing shows one. */
  readonly verdict: GenerationVerdict | undefined
  /** Runs of it that were seen to end. */
  readonly executions: { readonly success: number; readonly failure: number }
}

/** While outcomes of it may still come. */
export type OpenGeneration = Omit<WorkflowGeneration, 'verdict' | 'executions'> & {
  /** That generated it. */
  readonly tool: string
  /** The one whose graph it replaced soon, or after the check refused that. */
  readonly corrects: Pick<OpenGeneration, 'intent_class' | 'iteration'> | undefined
  /** Place in a row of corrections, from 1 on. */
  readonly iteration: number
  readonly digest: string | undefined
  readonly runs: Map<string, 'success' | 'failed'>
  verdict: GenerationVerdict | undefined
  /** The verdict that was last reported. */
  reported: GenerationVerdict | undefined
  state: 'unknown' | 'live' | 'refused'
}

export function closeGeneration(open: OpenGeneration): WorkflowGeneration {
  const { tenant_id, label, service, object, uid, trace_id, intent_class, at, steps, runs, state, verdict } = open
  const ends = [...runs.values()]
  const success = ends.filter((end) => end === 'success').length
  return {
    ...{ tenant_id, label, service, object, uid, trace_id, intent_class, at, steps },
    verdict: verdict ?? (state === 'live' ? 'accepted' : undefined),
    executions: { success, failure: ends.length - success },
  }
}
