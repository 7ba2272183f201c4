// Reads parameters of tasks as far as they fit: those of a draft may be any JSON.
import type { WorkflowNode } from './workflow-graph.ts'

type ParamValues = Readonly<Record<string, unknown>>

const max_quoted = 80

export function isObject(value: unknown): value is ParamValues {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** The parameter, and not what every object has; undefined where it is absent. */
export function readParam({ task }: Pick<WorkflowNode, 'task'>, name: string): unknown {
  return Object.hasOwn(task.params, name) ? task.params[name] : undefined
}

export function readText(task: Pick<WorkflowNode, 'task'>, name: string): string | undefined {
  const value = readParam(task, name)
  return typeof value === 'string' ? value : undefined
}

/** A text of an author for a rationale. */
export function quoteText(text: string): string {
  return JSON.stringify(text.length > max_quoted ? `${text.slice(0, max_quoted).toWellFormed()}…` : text)
}

/** The consequences of the rules of a `validate`: those without one reject. */
export function listConsequences(task: Pick<WorkflowNode, 'task'>): string[] {
  const rules = readParam(task, 'rules')
  if (!Array.isArray(rules)) return []
  return rules.map((rule) => (isObject(rule) && typeof rule.on_failure === 'string' ? rule.on_failure : 'reject'))
}

/** Whether each run reads only what is new, as `isIncremental` of ingest decides it. */
export function readsNewRows(task: Pick<WorkflowNode, 'task'>): boolean {
  if (task.task.operator === 'ingest_queue') return true
  if (readParam(task, 'only_new') === true)
    return task.task.operator === 'ingest_objects' || task.task.operator === 'ingest_database'
  return task.task.operator === 'ingest_database' && readText(task, 'cursor_column') !== undefined
}

const typedFormats: ReadonlySet<string> = new Set(['avro', 'parquet', 'gpkg', 'shapefile', 'image', 'tiles', 'pdf'])
const typedEndings = /\.(avro|parquet|gpkg|zip|png|jpe?g|tiff?|pdf)$/i

/** Whether the types of the columns are inferred from the values that the file happens to have. */
export function infersTypes(task: Pick<WorkflowNode, 'task'>): boolean {
  const reading = readParam(task, 'read_as')
  const format = isObject(reading) ? reading.format : undefined
  if (typeof format === 'string') return !typedFormats.has(format)
  const place = ['file', 'path', 'pattern'].map((name) => readText(task, name)).find((each) => each !== undefined)
  return place === undefined || !typedEndings.test(place)
}
