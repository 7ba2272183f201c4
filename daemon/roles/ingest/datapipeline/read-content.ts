// Reads the content of a pipeline: an assembled DAG as JSON, of operators of the catalog, or a DAG file in Python for Airflow.

import { parseJson } from '../../../kernel/encoding/parse-json.ts'
import { type Refusal, refuse } from '../../../kernel/error/errors.ts'
import { parseWithSchema } from '../../../kernel/error/parsing.ts'
import type { Call } from '../../../kernel/operation/call.ts'
import { assembledDag } from '../../../shared/assembled-dag/assembled-dag.ts'
import { workflowSchedulerPart } from '../../../shared/workflow-scheduler/workflow-scheduler.ts'
import type { ContentReading } from '../managed-dag/deployment-job.ts'
import type { DeploymentFault } from '../managed-dag/model.ts'
import { describeFault, listDagFaults } from '../operator/catalog.ts'
import { listTemplateFaults } from '../template/catalog.ts'
import type { StoredPipeline } from './model.ts'

/** Every DAG of Python imports Airflow; no line of JSON begins so. */
const pythonImport = /^[ \t]*(import|from)[ \t]+[A-Za-z_]/m

/** Refuses `needs_airflow` for the text of a DAG in Python where the embedded scheduler runs pipelines. */
export function refusePython(call: Call, content: string): Refusal | undefined {
  if (!pythonImport.test(content) || call.part(workflowSchedulerPart).kind === 'airflow') return undefined
  return refuse('needs_airflow', 'the content is Python, which Airflow alone runs: write an assembled DAG as JSON')
}

export function readContent({ content, dag_id, pipeline_type }: StoredPipeline): ContentReading {
  if (pythonImport.test(content)) return { python: content }
  const value = parseJson(content)
  if (value === undefined) return refuseContent({ reason: 'the content is not JSON' })
  const parsed = parseWithSchema(assembledDag, value)
  if (!parsed.success)
    return refuseContent(describeFault(parsed.errors[0] ?? { path: '', message: 'is not an assembled DAG' }))
  if (parsed.data.dag_id !== dag_id)
    return refuseContent({ reason: `the content is of the DAG ${parsed.data.dag_id}, not ${dag_id}`, path: 'dag_id' })
  const [fault] = [...listTemplateFaults(pipeline_type, parsed.data), ...listDagFaults(parsed.data)]
  return fault ? refuseContent(describeFault(fault)) : { dag: parsed.data }
}

function refuseContent(fault: DeploymentFault): ContentReading {
  return { fault, status: 'rejected' }
}
