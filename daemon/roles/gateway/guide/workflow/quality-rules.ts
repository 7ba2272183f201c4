// Rules of the category "data quality issue": rows and values that go on although they are bad, or get lost.
import type { HintFinding } from './hint.ts'
import { infersTypes, listConsequences, quoteText, readParam, readText } from './task-params.ts'
import type { WorkflowGraph, WorkflowNode } from './workflow-graph.ts'

const isOutput = ({ traits }: WorkflowNode) => traits?.traits.has('output') === true

/** Whether bad rows end there: they are rejected, or the task fails. */
const stopsBadRows = (each: WorkflowNode) =>
  each.task.operator === 'validate' && listConsequences(each).some((consequence) => consequence !== 'count')

/** A validation that lets every bad row pass, and no other one before the output. */
export function findCountedRows(graph: WorkflowGraph): HintFinding[] {
  return graph.tasks.flatMap((each): HintFinding[] => {
    const { at, task } = each
    const consequences = listConsequences(each)
    if (task.operator !== 'validate' || consequences.length === 0 || stopsBadRows(each)) return []
    const output = graph.fedBy(at).find((to) => isOutput(to) && !graph.feedersOf(to.at).some(stopsBadRows))
    if (!output) return []
    const rationale = `${task.name} only counts the rows that break its rules, and ${output.task.name} hands them on with the others: reject them, or end the task (on_failure)`
    return [{ rule: 'rows_only_counted', at, rationale }]
  })
}

/** Where every row may be rejected, an empty file may replace a good one. */
export function findUnboundedRejects(graph: WorkflowGraph): HintFinding[] {
  return graph.tasks.flatMap((each): HintFinding[] => {
    const { at, task } = each
    const isUnbounded = listConsequences(each).includes('reject') && readParam(each, 'max_rejects') === undefined
    if (task.operator !== 'validate' || !isUnbounded) return []
    const output = graph.fedBy(at).find(isOutput)
    if (!output) return []
    const file = readText(output, 'file')
    const effect =
      output.task.operator === 'write' && file !== undefined
        ? `replaces ${quoteText(file)} by what is left`
        : 'hands on what is left'
    const rationale = `${task.name} may reject every row, and ${output.task.name} then ${effect}: set max_rejects, beyond which the task fails`
    return [{ rule: 'unbounded_rejects', at, rationale }]
  })
}

export function findLostValues(graph: WorkflowGraph): HintFinding[] {
  return graph.tasks.flatMap((each): HintFinding[] => {
    const { at, task } = each
    if (task.operator !== 'cast' || readParam(each, 'on_misfit') !== 'leave_out') return []
    const followers = graph.fedBy(at)
    if (followers.some(({ task: to, traits }) => !traits || to.operator === 'validate')) return []
    const rationale = `${task.name} leaves out values that do not fit their new type, and no later task tests what is missing: validate with present, or let it reject such rows`
    return [{ rule: 'values_left_out', at, rationale }]
  })
}

/** One odd value makes a whole column text; readers of a Parquet file then find another type than the day before. */
export function findInferredTypes(graph: WorkflowGraph): HintFinding[] {
  return graph.tasks.flatMap((each): HintFinding[] => {
    const { at, task, traits } = each
    if (!traits?.traits.has('file') || !infersTypes(each)) return []
    const output = graph.fedBy(at).find((to) => {
      if (to.task.operator !== 'write' || !readText(to, 'file')?.endsWith('.parquet')) return false
      return !graph.feedersOf(to.at).some(fixesTypes)
    })
    if (!output) return []
    const rationale = `the types of the columns of ${task.name} are inferred from each file, and ${output.task.name} writes them: one odd value makes a column text. State them by a cast`
    return [{ rule: 'inferred_types', at, rationale }]
  })
}

/** A validation compares with values of a type, and fails for a column of another one. */
const fixesTypes = ({ traits, task }: WorkflowNode) =>
  traits === undefined || task.operator === 'cast' || task.operator === 'validate'
