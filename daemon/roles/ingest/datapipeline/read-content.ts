// Reads the content of a pipeline: an assembled DAG as JSON, of operators of the catalog.

import { parseJson } from '../../../kernel/encoding/parse-json.ts'
import { type Refusal, refuse } from '../../../kernel/error/errors.ts'
import { parseWithSchema } from '../../../kernel/error/parsing.ts'
import { type AssembledDag, assembledDag } from '../../../shared/assembled-dag/assembled-dag.ts'
import type { DagFault } from '../../../shared/assembled-dag/task-order.ts'
import { listDagFaults } from '../operator/catalog.ts'

export type ContentReading =
  | { readonly dag: AssembledDag }
  /** The first fault, for which the check refuses it. */
  | { readonly fault: { readonly reason: string; readonly path?: string } }

/** Every DAG of Python imports Airflow; no line of JSON begins so. */
const pythonImport = /^[ \t]*(import|from)[ \t]+[A-Za-z_]/m

/** Refuses `needs_airflow` for the text of a DAG in Python, which no embedded scheduler runs. */
export function refusePython(content: string): Refusal | undefined {
  if (!pythonImport.test(content)) return undefined
  return refuse('needs_airflow', 'the content is Python, which Airflow alone runs: write an assembled DAG as JSON')
}

export function readContent(content: string, dag_id: string): ContentReading {
  const value = parseJson(content)
  if (value === undefined) return { fault: { reason: 'the content is not JSON' } }
  const parsed = parseWithSchema(assembledDag, value)
  if (!parsed.success) return { fault: describeFault(parsed.errors[0]) }
  if (parsed.data.dag_id !== dag_id)
    return { fault: { reason: `the content is of the DAG ${parsed.data.dag_id}, not ${dag_id}`, path: 'dag_id' } }
  const [fault] = listDagFaults(parsed.data)
  return fault ? { fault: describeFault(fault) } : { dag: parsed.data }
}

function describeFault(fault: DagFault = { path: '', message: 'is not an assembled DAG' }) {
  const { path, message } = fault
  return path === '' ? { reason: message } : { reason: message, path }
}
