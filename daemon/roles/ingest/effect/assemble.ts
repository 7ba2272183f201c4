// Assembles the operators of an effect into a DAG in which each follows the one before it.
import type { AssembledDag, DagTask } from '../../../shared/assembled-dag/assembled-dag.ts'
import type { DagFault } from '../../../shared/assembled-dag/task-order.ts'
import { type ContentReading, renderDag } from '../managed-dag/content-reading.ts'
import { describeFault, findOperator, operators as known, listDagFaults } from '../operator/catalog.ts'
import type { EffectOperator, StoredEffect } from './model.ts'

/** Leaves room in the name of a task for its number. */
const max_prefix = 58

function assembleDag(dag_id: string, operators: readonly EffectOperator[]): AssembledDag {
  const nameOf = (at: number) => `${operators[at]?.name.slice(0, max_prefix)}_${at + 1}`
  const tasks = operators.map(({ name, ...task }, at): DagTask => {
    return { name: nameOf(at), operator: name, ...task, after: at === 0 ? [] : [nameOf(at - 1)] }
  })
  return { format: 1, dag_id, tasks }
}

/** Unknown operators leave nothing to assemble: `error`. What the check of the DAG refuses is `rejected`. */
export function readEffect({ dag_id, operators }: Pick<StoredEffect, 'dag_id' | 'operators'>): ContentReading {
  const [unknown] = listUnknownOperators(operators)
  if (unknown) return { error: describeFault(unknown) }
  const dag = assembleDag(dag_id, operators)
  const [fault] = listDagFaults(dag)
  const text = renderDag(dag)
  return fault ? { text, fault: describeFault(nameOperatorPath(fault)) } : { text, content: dag }
}

export function listUnknownOperators(operators: readonly EffectOperator[]): DagFault[] {
  const names = known.map(({ name }) => name).join(', ')
  return operators.flatMap(({ name }, at) =>
    findOperator(name)
      ? []
      : [{ path: `operators.${at}.name`, message: `the catalog has no operator ${name}: ${names}` }],
  )
}

/** Paths of the DAG as the author of the effect knows them: an operator has no list of those before it. */
function nameOperatorPath({ path, message }: DagFault): DagFault {
  return { path: path.replace(/^tasks\.(\d+)(\.after)?/, 'operators.$1'), message }
}
