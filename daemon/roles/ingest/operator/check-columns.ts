// Finds faults of parameters by the columns that tasks hand on, before a run.
import type { AssembledDag } from '../../../shared/assembled-dag/assembled-dag.ts'
import { type DagFault, orderTasks } from '../../../shared/assembled-dag/task-order.ts'
import { type ColumnSet, unknownColumns } from './column-set.ts'
import type { Operator } from './operator.ts'

/** For a DAG whose order, operators and parameters are checked. Where a task has faults, those after it are not judged by its columns. */
export function listColumnFaults(dag: AssembledDag, findOperator: (name: string) => Operator | undefined): DagFault[] {
  const made = new Map<string, ColumnSet>()
  const faults: DagFault[] = []
  const placeOf = new Map(dag.tasks.map(({ name }, at) => [name, at]))
  for (const task of orderTasks(dag.tasks)) {
    const operator = findOperator(task.operator)
    if (!operator) continue
    const inputs = task.after.flatMap((name) => made.get(name) ?? [])
    const derived = operator.deriveColumns?.(operator.params.parse(task.params), inputs)
    const at = placeOf.get(task.name)
    for (const { path, message } of derived?.faults ?? [])
      faults.push({ path: `tasks.${at}.params${path === '' ? '' : `.${path}`}`, message })
    const isSound = derived && derived.faults.length === 0
    if (operator.makes_dataset) made.set(task.name, isSound ? derived.columns : unknownColumns)
  }
  return faults
}
