// The lineage of a task, as its run shows it: the inputs that it took, and the dataset or file that it made.
import type { TaskLineage, WorkflowRun } from '../../../shared/workflow-scheduler/workflow-scheduler.ts'
import type { RunTask } from './model.ts'

type CodePin = Pick<WorkflowRun, 'commit' | 'catalog_version'>

/** Undefined for a task that made nothing yet. */
export function showLineage({
  dataset,
  written,
  catalog_version,
}: Pick<RunTask, 'dataset' | 'written' | 'catalog_version'>): TaskLineage | undefined {
  const version = catalog_version === undefined ? {} : { catalog_version }
  if (written) {
    const { file, rows, bytes, digest, inputs } = written
    return { ...version, file, digest, rows_in: rows, rows_out: rows, rejects: 0, bytes, inputs }
  }
  if (!dataset) return undefined
  const { dataset: name, digest, rows, rejects, bytes, inputs, checks } = dataset
  const isKnown = inputs.every((input) => input.rows !== undefined)
  const rows_in = isKnown ? { rows_in: inputs.reduce((sum, input) => sum + (input.rows ?? 0), 0) } : {}
  const made = { ...version, dataset: name, digest, ...rows_in, rows_out: rows, rejects, bytes, inputs }
  return checks ? { ...made, checks } : made
}

/** The versions that pin the code of a run, or of a live DAG. */
export function pickPinned({ commit, catalog_version }: CodePin): CodePin {
  return {
    ...(commit === undefined ? {} : { commit }),
    ...(catalog_version === undefined ? {} : { catalog_version }),
  }
}
