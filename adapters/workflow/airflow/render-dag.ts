// Renders an assembled DAG as a Python file for Airflow 2 and 3, whose tasks perform `platform ingest step` on a worker.
import type { AssembledDag } from '../../../daemon/shared/assembled-dag/assembled-dag.ts'
import { orderTasks } from '../../../daemon/shared/assembled-dag/task-order.ts'
import { dag_template, python_template, specification_mark } from './dag-template.ts'

export type RenderedDag = {
  /** Its name at Airflow. */
  readonly airflow_id: string
  readonly tenant_id: string
  /** The pipeline or effect that it is of. */
  readonly pipeline: string
  /** A tag by which a reader of Airflow knows the version that it has. */
  readonly version: string
  /** The command on a worker; the document of a step is written to its stdin. */
  readonly command: readonly string[]
  readonly dag: AssembledDag
  /** For a DAG with tasks that the site performs. */
  readonly site?: SiteTasks
}

/** `dag_digest`: by which the site knows the DAG that a worker has. */
export type SiteTasks = { readonly name: string; readonly dag_digest: string; readonly tasks: readonly string[] }

/** The same DAG gives the same text. Nothing of a DAG is in the code: all of it is one literal of a string, which the code parses as JSON. */
export function renderDag({ dag, ...rendered }: RenderedDag): string {
  const specification = { ...rendered, tasks: orderTasks(dag.tasks) }
  return dag_template.replace(specification_mark, () => pythonLiteral(JSON.stringify(specification)))
}

export type RenderedPython = {
  readonly airflow_id: string
  /** As the text calls it. */
  readonly dag_id: string
  readonly version: string
  readonly text: string
}

/** The text runs at Airflow as it is, under the name that the site gives its DAG. */
export function renderPython(rendered: RenderedPython): string {
  return python_template.replace(specification_mark, () => pythonLiteral(JSON.stringify(rendered)))
}

/** What the literal of a string may be made of: printable ASCII, with two escapes that Python and JSON read alike. */
const safeLiteral = /^"(?:[ !#-[\]-~]|\\["\\])*"$/

/** JSON as a literal of a string in Python: what is not ASCII is an escape of JSON within it. */
export function pythonLiteral(json: string): string {
  const ascii = json.replaceAll(/[^ -~]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)
  const literal = `"${ascii.replaceAll(/["\\]/g, (each) => `\\${each}`)}"`
  if (!safeLiteral.test(literal)) throw new Error('the DAG cannot be written as a literal')
  return literal
}
