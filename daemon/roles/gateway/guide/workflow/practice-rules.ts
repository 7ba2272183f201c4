// Rules of the category "missing best practice".
import type { HintFinding } from './hint.ts'
import { readsNewRows } from './task-params.ts'
import type { WorkflowGraph, WorkflowNode } from './workflow-graph.ts'

export type HintTerms = {
  /** Seconds between two runs of the schedule, where they are the closest; undefined without a schedule. */
  readonly interval_s?: number | undefined
}

const isSource = ({ traits }: WorkflowNode) => traits?.traits.has('source') === true

/** Rows that were read leave the pipeline, and nothing has tested them. */
export function findOutputsWithoutValidation(graph: WorkflowGraph): HintFinding[] {
  return graph.tasks.flatMap(({ at, task, traits }): HintFinding[] => {
    if (!traits?.traits.has('output')) return []
    const feeders = graph.feedersOf(at)
    const isJudged = feeders.some((each) => each.traits === undefined || each.task.operator === 'validate')
    if (isJudged || !feeders.some(isSource)) return []
    const rationale = `no task validates the rows that ${task.name} hands on: put a validate task before it, whose rules reject or count bad rows`
    return [{ rule: 'output_without_validation', at, rationale }]
  })
}

export function findSourcesWithoutRetries(graph: WorkflowGraph): HintFinding[] {
  return graph.tasks
    .filter((each) => isSource(each) && each.traits?.traits.has('remote') && each.task.retries === 0)
    .map(({ at, task }) => ({
      ...{ rule: 'source_without_retries', at },
      rationale: `${task.name} reads from another service without retries: one broken connection fails the run. Set retries to 1 or more`,
    }))
}

/** One hint for all: each task has the limit of an hour by default. */
export function findLongLimit(graph: WorkflowGraph, { interval_s }: HintTerms): HintFinding[] {
  if (interval_s === undefined) return []
  const long = graph.tasks.filter(({ task }) => task.time_limit_s > interval_s)
  const longest = Math.max(...long.map(({ task }) => task.time_limit_s))
  const first = long.find(({ task }) => task.time_limit_s === longest)
  if (!first) return []
  const others = long.length > 1 ? ` (and ${long.length - 1} more)` : ''
  const rationale = `a try of ${first.task.name}${others} may take ${longest} s, and the schedule has runs ${interval_s} s apart: while one is in flight, later times are left out. Lower time_limit_s, or schedule fewer runs`
  return [{ rule: 'time_limit_beyond_schedule', at: first.at, rationale }]
}

/** Their results are about all rows, or they look rows up. */
const wholeReaders: ReadonlySet<string> = new Set(['write', 'join', 'aggregate', 'resolve_run'])

export function findFullReads(graph: WorkflowGraph, { interval_s }: HintTerms): HintFinding[] {
  if (interval_s === undefined) return []
  return graph.tasks.flatMap((each): HintFinding[] => {
    const { at, task } = each
    const advice = newRowsAdvice.get(task.operator)
    if (advice === undefined || readsNewRows(each)) return []
    const needsAll = graph.fedBy(at).some(({ task: to, traits }) => !traits || wholeReaders.has(to.operator))
    if (needsAll) return []
    const rationale = `each scheduled run of ${task.name} reads everything again: ${advice}`
    return [{ rule: 'full_read_each_run', at, rationale }]
  })
}

const newRowsAdvice: ReadonlyMap<string, string> = new Map([
  ['ingest_database', 'name a cursor_column where each new row has a greater value in one column'],
  ['ingest_objects', 'set only_new to read the objects that no run before has landed'],
])
