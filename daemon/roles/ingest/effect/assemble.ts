// Reads an effect as the DAG that its operators become, and names the faults of that as its author knows them.
import { assembleChain, type EffectOperator } from '../../../shared/assembled-dag/operator-chain.ts'
import type { DagFault } from '../../../shared/assembled-dag/task-order.ts'
import { type ContentReading, renderDag } from '../managed-dag/content-reading.ts'
import { describeFault, findOperator, operators as known, listDagFaults } from '../operator/catalog.ts'
import type { StoredEffect } from './model.ts'

/** Unknown operators leave nothing to assemble: `error`. What the check of the DAG refuses is `rejected`. */
export function readEffect({ dag_id, operators }: Pick<StoredEffect, 'dag_id' | 'operators'>): ContentReading {
  const [unknown] = listUnknownOperators(operators)
  if (unknown) return { error: describeFault(unknown) }
  const dag = assembleChain(dag_id, operators)
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
