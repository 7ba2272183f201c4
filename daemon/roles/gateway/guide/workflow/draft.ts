// The draft of a workflow, read from the arguments of the tool that makes or changes it.
import * as z from 'zod'
import { parseJson } from '../../../../kernel/encoding/parse-json.ts'
import { type AssembledDag, assembledDag, max_tasks } from '../../../../shared/assembled-dag/assembled-dag.ts'
import { assembleChain, effectOperator } from '../../../../shared/assembled-dag/operator-chain.ts'
import { isObject } from './task-params.ts'

export type WorkflowDraft = {
  /** Whether the call makes or replaces the graph, rather than the name or the schedule alone. */
  readonly hasGraph: boolean
  /** Undefined where the call has none, or one that does not fit. */
  readonly dag?: AssembledDag | undefined
  readonly schedule?: string | undefined
}

/** Characters of a content that is read: as many as a pipeline may have. */
const max_content = 262_144
/** Nothing of a draft of an effect depends on it. */
const draft_dag_id = 'draft'

const effectOperators = z.array(effectOperator).min(1).max(max_tasks)

export function assembleDraft(operators: z.output<typeof effectOperators>): AssembledDag {
  return assembleChain(draft_dag_id, operators)
}

export function readEffectDraft(input: unknown): WorkflowDraft {
  if (!isObject(input)) return { hasGraph: false }
  const parsed = effectOperators.safeParse(input.operators)
  return {
    hasGraph: input.operators !== undefined,
    dag: parsed.success ? assembleDraft(parsed.data) : undefined,
    schedule: readSchedule(input),
  }
}

/** DAG files of Airflow and journey tests have no hints: they are not assembled DAGs. */
export function readPipelineDraft(input: unknown): WorkflowDraft {
  if (!isObject(input)) return { hasGraph: false }
  const { content } = input
  const text = typeof content === 'string' && content.length <= max_content ? content : undefined
  return {
    hasGraph: content !== undefined,
    dag: text === undefined ? undefined : assembledDag.safeParse(parseJson(text)).data,
    schedule: readSchedule(input),
  }
}

function readSchedule({ schedule }: Readonly<Record<string, unknown>>): string | undefined {
  return typeof schedule === 'string' && schedule.trim() !== '' ? schedule.trim() : undefined
}
