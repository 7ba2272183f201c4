// Lists the hints on a DAG, from the graph alone: nothing is read, run or refused.
import type { AssembledDag } from '../../../../shared/assembled-dag/assembled-dag.ts'
import { type HintFinding, type HintRule, hintRules, type WorkflowHint } from './hint.ts'
import {
  findEarlySignals,
  findFilesOfNewRows,
  findJoinFaults,
  findJoinsOfNewRows,
  findRedundantEdges,
  findRepeatedTasks,
  findSharedTargets,
  findUnreadBranches,
} from './modeling-rules.ts'
import {
  findFullReads,
  findLongLimit,
  findOutputsWithoutValidation,
  findSourcesWithoutRetries,
  type HintTerms,
} from './practice-rules.ts'
import { findCountedRows, findInferredTypes, findLostValues, findUnboundedRejects } from './quality-rules.ts'
import { WorkflowGraph } from './workflow-graph.ts'

/** Of one DAG; the first ones by category and place. */
export const max_hints = 200

const rules: readonly ((graph: WorkflowGraph, terms: HintTerms) => HintFinding[])[] = [
  ...[findOutputsWithoutValidation, findSourcesWithoutRetries, findLongLimit, findFullReads],
  ...[findCountedRows, findUnboundedRejects, findLostValues, findInferredTypes],
  ...[findUnreadBranches, findRepeatedTasks, findSharedTargets, findJoinFaults, findJoinsOfNewRows],
  ...[findFilesOfNewRows, findEarlySignals, findRedundantEdges],
]

const rankOf = new Map((Object.keys(hintRules) as HintRule[]).map((rule, rank) => [rule, rank]))

/** In the order of the rules, then of the tasks. None for a DAG whose tasks have no order: its deployment names the faults. */
export function listHints(dag: Pick<AssembledDag, 'tasks'>, terms: HintTerms = {}): WorkflowHint[] {
  const graph = WorkflowGraph.open(dag)
  if (!graph) return []
  const found = rules.flatMap((find) => find(graph, terms))
  found.sort((a, b) => (rankOf.get(a.rule) ?? 0) - (rankOf.get(b.rule) ?? 0) || a.at - b.at)
  return found.slice(0, max_hints).map((each) => showHint(graph, each))
}

function showHint({ tasks }: WorkflowGraph, { rule, at, from, rationale }: HintFinding): WorkflowHint {
  const nameOf = (place: number) => tasks[place]?.task.name ?? ''
  const about = from === undefined ? { node: nameOf(at) } : { edge: { from: nameOf(from), to: nameOf(at) } }
  return { category: hintRules[rule], rule, ...about, rationale }
}
