// Reads the content of a pipeline: an assembled DAG as JSON, of operators of the catalog, or a DAG file in Python for Airflow.
import { type Refusal, refuse } from '../../../kernel/error/errors.ts'
import type { Call } from '../../../kernel/operation/call.ts'
import { findJsonFlaw, findJsonLine } from '../../../shared/dag-repository/find-json-line.ts'
import { workflowSchedulerPart } from '../../../shared/workflow-scheduler/workflow-scheduler.ts'
import { renderJourney } from '../journey-test/render-journey.ts'
import { checkDagText } from '../managed-dag/check-dag-text.ts'
import { type ContentReading, renderDag } from '../managed-dag/content-reading.ts'
import { describeFault, listDagFaults } from '../operator/catalog.ts'
import { journeyTest, listTemplateFaults } from '../template/catalog.ts'
import type { StoredPipeline } from './model.ts'

/** Every DAG of Python imports Airflow; no line of JSON begins so. */
const pythonImport = /^[ \t]*(import|from)[ \t]+[A-Za-z_]/m

/** Refuses `needs_airflow` for the text of a DAG in Python where the embedded scheduler runs pipelines. */
export function refusePython(call: Call, content: string): Refusal | undefined {
  if (!pythonImport.test(content) || call.part(workflowSchedulerPart).kind === 'airflow') return undefined
  return refuse('needs_airflow', 'the content is Python, which Airflow alone runs: write an assembled DAG as JSON')
}

export function readContent(pipeline: StoredPipeline): ContentReading {
  const { content: text, dag_id, pipeline_type } = pipeline
  if (pipeline_type === journeyTest.name) return readJourney(pipeline)
  if (pythonImport.test(text)) return { text, content: { python: text } }
  const checked = checkDagText(text, (dag) => [
    ...(dag.dag_id === dag_id
      ? []
      : [{ path: 'dag_id', message: `the content is of the DAG ${dag.dag_id}, not ${dag_id}` }]),
    ...listTemplateFaults(pipeline_type, dag),
  ])
  return 'fault' in checked ? { text, fault: checked.fault } : { text, content: checked.dag }
}

/** The repository has the journey as it is rendered, or else as its author wrote it, with the fault of that. */
function readJourney({ content: text, dag_id }: StoredPipeline): ContentReading {
  const rendered = renderJourney(text)
  if (!rendered) {
    const { reason = 'it is another text', line = 1 } = findJsonFlaw(text) ?? {}
    return { text, fault: { reason: `the content is not JSON: ${reason}`, line } }
  }
  if ('fault' in rendered) {
    const { path, message } = rendered.fault
    return { text, fault: { ...describeFault(rendered.fault), line: findJsonLine(text, path), reason: message } }
  }
  const { dag } = rendered
  if (dag.dag_id !== dag_id)
    return { text, fault: { path: 'dag_id', reason: `the content is of the DAG ${dag.dag_id}, not ${dag_id}` } }
  const [fault] = listDagFaults(dag)
  return fault ? { text, fault: describeFault(fault) } : { text: renderDag(dag), content: dag }
}
