// Rules of the category "modeling issue": the form of the graph, and what its tasks mean together.
import type { HintFinding } from './hint.ts'
import { listConsequences, quoteText, readParam, readsNewRows, readText } from './task-params.ts'
import type { WorkflowGraph, WorkflowNode } from './workflow-graph.ts'

/** What leaves the pipeline, or goes into the registry. */
const handsOn = ({ traits }: WorkflowNode) => traits?.makes_dataset === false && traits.reads && traits.inputs.max > 0

/** Landed datasets are a result too: a branch is unread only beside one that is handed on. */
export function findUnreadBranches(graph: WorkflowGraph): HintFinding[] {
  const outputs = graph.tasks.filter((each) => handsOn(each) && each.task.operator !== 'verify_response_json')
  if (outputs.length === 0) return []
  const read = new Set(graph.tasks.flatMap(({ inputs }) => inputs))
  return graph.tasks.flatMap((each): HintFinding[] => {
    const { at, task, traits } = each
    const isSource = traits?.traits.has('source') === true
    if (read.has(at) || (!isSource && !traits?.traits.has('transform'))) return []
    // A test of the rows, which has no other use for them.
    if (task.operator === 'validate' && !listConsequences(each).includes('reject')) return []
    const bypassed = outputs.find((output) => each.inputs.some((input) => graph.feeds(input, output.at)))
    const rationale = bypassed
      ? `no task takes the dataset of ${task.name}: ${bypassed.task.name} takes the rows as they were before it`
      : `no task takes the dataset of ${task.name}, while others are handed on: connect it, or leave it out, unless its landed dataset is read`
    return [{ rule: 'unread_branch', at, rationale }]
  })
}

/** Two runs of them on the same input mean the same; each message of a queue is taken once. */
const isRepeatable = ({ task, traits }: WorkflowNode) =>
  task.operator === 'resolve_run' ||
  traits?.traits.has('transform') ||
  (traits?.traits.has('source') && task.operator !== 'ingest_queue')

export function findRepeatedTasks(graph: WorkflowGraph): HintFinding[] {
  const groups = Map.groupBy(graph.tasks.filter(isRepeatable), ({ task, before }) =>
    JSON.stringify([task.operator, before]),
  )
  const found: HintFinding[] = []
  for (const group of groups.values()) {
    if (group.length === 1) continue
    const firstOf = new Map<string, WorkflowNode>()
    for (const each of group) {
      const params = describeParams(each)
      const first = firstOf.get(params)
      if (first) {
        const rationale = `${each.task.name} does the same as ${first.task.name}, with the same parameters and inputs: let tasks after it follow ${first.task.name}`
        found.push({ rule: 'repeated_task', at: each.at, rationale })
      } else firstOf.set(params, each)
    }
  }
  return found
}

/** One text for equal parameters. Names of members are sorted; a parameter that is left out is not one that has its default. */
function describeParams({ task }: WorkflowNode): string {
  return JSON.stringify(task.params, (_, value) =>
    typeof value === 'object' && value !== null && !Array.isArray(value)
      ? Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)))
      : value,
  )
}

export function findSharedTargets(graph: WorkflowGraph): HintFinding[] {
  const firstOf = new Map<string, WorkflowNode>()
  return graph.tasks.flatMap((each): HintFinding[] => {
    const { at, task } = each
    const target = readTarget(each)
    if (target === undefined) return []
    const key = JSON.stringify([task.operator, ...target])
    const first = firstOf.get(key)
    if (!first) {
      firstOf.set(key, each)
      return []
    }
    const isOrdered = graph.follows(at, first.at) || graph.follows(first.at, at)
    const effect =
      task.operator === 'write'
        ? `the ${isOrdered ? 'later' : 'one that happens to end last'} replaces the file of the other`
        : 'the peer receives two sets under one name'
    const rationale = `${task.name} and ${first.task.name} have the same target, ${target.map(quoteText).join(' at ')}: ${effect}`
    return [{ rule: 'shared_target', at, rationale }]
  })
}

/** The file, or the dataset and the peer that receives it. */
function readTarget(each: WorkflowNode): string[] | undefined {
  const names = targetParams.get(each.task.operator) ?? []
  const target = names.flatMap((name) => readText(each, name) ?? [])
  return names.length > 0 && target.length === names.length ? target : undefined
}

const targetParams: ReadonlyMap<string, readonly string[]> = new Map([
  ['write', ['file']],
  ['filedrop_send', ['dataset', 'peer']],
])

export function findJoinFaults(graph: WorkflowGraph): HintFinding[] {
  return graph.tasks.flatMap((each): HintFinding[] => {
    const { at, task } = each
    if (task.operator !== 'join') return []
    const keys = readParam(each, 'on')
    if (!Array.isArray(keys) || keys.length === 0) {
      const rationale = `${task.name} compares no columns: name the pairs of columns whose values are equal (on)`
      return [{ rule: 'join_without_keys', at, rationale }]
    }
    const kind = readText(each, 'kind')
    if (kind !== 'semi' && kind !== 'anti') return []
    const unused = ['columns', 'prefix'].find(
      (name) => readParam(each, name) !== undefined && readParam(each, name) !== '',
    )
    if (unused === undefined) return []
    const rationale = `${task.name} is a ${kind} join, which adds no columns of the second dataset: ${unused} has no effect. Leave it out, or join as inner or left`
    return [{ rule: 'unused_join_columns', at, rationale }]
  })
}

/** Both sides have only what is new: a row whose partner came with another run finds none. */
export function findJoinsOfNewRows(graph: WorkflowGraph): HintFinding[] {
  const newRows = findNewRows(graph)
  const readers = graph.tasks.filter(readsNewRows)
  return graph.tasks.flatMap(({ at, task, inputs }): HintFinding[] => {
    const [left, right] = inputs
    if (task.operator !== 'join' || left === undefined || right === undefined) return []
    if (!newRows.has(left) || !newRows.has(right)) return []
    const readersOf = (side: number) => readers.filter((each) => each.at === side || graph.feeds(each.at, side))
    const [ofLeft, ofRight] = [readersOf(left), readersOf(right)]
    // Two branches of one reading have the same rows.
    const [one] = ofLeft.filter((each) => !ofRight.includes(each))
    const [other] = ofRight.filter((each) => !ofLeft.includes(each))
    if (!one || !other) return []
    const rationale = `${one.task.name} and ${other.task.name} each read only what is new: a row whose partner came with another run has none in ${task.name}. Read one side as a whole`
    return [{ rule: 'join_of_new_rows', at, rationale }]
  })
}

export function findFilesOfNewRows(graph: WorkflowGraph): HintFinding[] {
  const newRows = findNewRows(graph)
  return graph.tasks.flatMap((each): HintFinding[] => {
    const { at, task, inputs } = each
    const file = readText(each, 'file')
    if (task.operator !== 'write' || file === undefined || !inputs.some((place) => newRows.has(place))) return []
    const reader = graph.feedersOf(at).find(readsNewRows)
    if (!reader) return []
    const rationale = `${reader.task.name} reads only what is new, and ${task.name} replaces ${quoteText(file)} with each run: the file has the rows of the newest run alone`
    return [{ rule: 'file_of_new_rows', at, rationale }]
  })
}

/** The places of the tasks whose rows are those of the newest run alone. Of a join, the rows are those of its first dataset, or of both. */
function findNewRows(graph: WorkflowGraph): ReadonlySet<number> {
  const found = new Set<number>()
  for (const each of graph.inOrder()) {
    const [first, second] = each.inputs.map((place) => found.has(place))
    const isInner = each.task.operator === 'join' && (readText(each, 'kind') ?? 'inner') === 'inner'
    const isTransform = each.traits?.traits.has('transform') === true
    if (readsNewRows(each) || (isTransform && (first || (isInner && second)))) found.add(each.at)
  }
  return found
}

export function findEarlySignals(graph: WorkflowGraph): HintFinding[] {
  const others = graph.tasks.filter(({ task }) => task.operator !== 'notify')
  if (others.length === 0) return []
  return graph.tasks.flatMap(({ at, task, before }): HintFinding[] => {
    if (task.operator !== 'notify' || before.length > 0) return []
    const rationale = `${task.name} follows no task, so it raises its signal before anything has succeeded: let it follow the last task (after)`
    return [{ rule: 'early_signal', at, rationale }]
  })
}

/** The first one of each task. An edge along which a dataset goes is needed, whatever else leads there. */
export function findRedundantEdges(graph: WorkflowGraph): HintFinding[] {
  return graph.tasks.flatMap(({ at, task, before, inputs }): HintFinding[] => {
    const needed = new Set(inputs)
    const from = before.find((place) => graph.impliesEdge(at, place) && !needed.has(place))
    if (from === undefined) return []
    const through = before.find((other) => graph.follows(other, from))
    const [first, between] = [graph.tasks[from], through === undefined ? undefined : graph.tasks[through]]
    if (!first || !between) return []
    const rationale = `${task.name} follows ${first.task.name} through ${between.task.name} in any case, and takes no dataset of it: leave ${first.task.name} out of its after`
    return [{ rule: 'redundant_edge', at, from, rationale }]
  })
}
