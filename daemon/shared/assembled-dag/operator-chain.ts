// Operators that follow each other, as an effect lists them, and the DAG that they become.
import * as z from 'zod'
import { type AssembledDag, type DagTask, dagTask } from './assembled-dag.ts'

const { operator, params, retries, retry_delay_s, time_limit_s } = dagTask.shape

/** An operator of an effect: a task that follows the one before it. */
export const effectOperator = z
  .strictObject({ name: operator, params, retries, retry_delay_s, time_limit_s })
  .meta({ id: 'EffectOperator' })
export type EffectOperator = z.infer<typeof effectOperator>

/** Leaves room in the name of a task for its number. */
const max_prefix = 58

/** Assembles operators into a DAG in which each follows the one before it. */
export function assembleChain(dag_id: string, operators: readonly EffectOperator[]): AssembledDag {
  const nameOf = (at: number) => `${operators[at]?.name.slice(0, max_prefix)}_${at + 1}`
  const tasks = operators.map(({ name, ...task }, at): DagTask => {
    return { name: nameOf(at), operator: name, ...task, after: at === 0 ? [] : [nameOf(at - 1)] }
  })
  return { format: 1, dag_id, tasks }
}
