// Reads the content of a pipeline: an assembled DAG as JSON, of operators of the catalog, or a DAG file in Python for Airflow.
import { type Refusal, refuse } from '../../../kernel/error/errors.ts'
import type { Call } from '../../../kernel/operation/call.ts'
import { workflowSchedulerPart } from '../../../shared/workflow-scheduler/workflow-scheduler.ts'
import { checkDagText } from '../managed-dag/check-dag-text.ts'
import type { ContentReading } from '../managed-dag/content-reading.ts'
import { listTemplateFaults } from '../template/catalog.ts'
import type { StoredPipeline } from './model.ts'

/** Every DAG of Python imports Airflow; no line of JSON begins so. */
const pythonImport = /^[ \t]*(import|from)[ \t]+[A-Za-z_]/m

/** Refuses `needs_airflow` for the text of a DAG in Python where the embedded scheduler runs pipelines. */
export function refusePython(call: Call, content: string): Refusal | undefined {
  if (!pythonImport.test(content) || call.part(workflowSchedulerPart).kind === 'airflow') return undefined
  return refuse('needs_airflow', 'the content is Python, which Airflow alone runs: write an assembled DAG as JSON')
}

export function readContent({ content: text, dag_id, pipeline_type }: StoredPipeline): ContentReading {
  if (pythonImport.test(text)) return { text, content: { python: text } }
  const checked = checkDagText(text, (dag) => [
    ...(dag.dag_id === dag_id
      ? []
      : [{ path: 'dag_id', message: `the content is of the DAG ${dag.dag_id}, not ${dag_id}` }]),
    ...listTemplateFaults(pipeline_type, dag),
  ])
  return 'fault' in checked ? { text, fault: checked.fault } : { text, content: checked.dag }
}
