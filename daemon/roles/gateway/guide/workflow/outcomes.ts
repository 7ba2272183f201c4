// Outcomes of generated workflows, folded from observations of tool calls: nothing else is kept of a generation (document 002, rule 5).
import { sha256 } from '../../../../kernel/encoding/canonical-json.ts'
import { type Label, labelKey } from '../../../../kernel/label/label.ts'
import { listOrderFaults, orderTasks } from '../../../../shared/assembled-dag/task-order.ts'
import type { WorkflowDraft } from './draft.ts'
import { findGeneratingTool, type GeneratingTool, isNamed, type WorkflowKind, workflowKinds } from './intents.ts'
import {
  compareCalls,
  listReportedRuns,
  type ObservedCall,
  readId,
  readObservedCall,
  type ToolObservation,
} from './observed-call.ts'

/** `accepted`: live as it was generated. `edited`: its graph was changed soon. `discarded`: removed before a run succeeded. */
export type GenerationVerdict = 'accepted' | 'edited' | 'discarded'

/** One call that made or replaced the graph of a workflow, and its outcome. */
export type WorkflowGeneration = {
  readonly tenant_id: string
  readonly label?: Label | undefined
  readonly service: string
  readonly object: string
  /** Of the effect or pipeline. */
  readonly uid: string
  readonly trace_id: string
  readonly intent_class: string
  readonly at: number
  /** Operators in their order; undefined where the graph is not known. */
  readonly steps: readonly string[] | undefined
  /** Undefined while nothing shows one. */
  readonly verdict: GenerationVerdict | undefined
  /** Runs of it that were seen to end. */
  readonly executions: { readonly success: number; readonly failure: number }
}

export type OutcomeTerms = {
  /** A change of the graph within this time is a correction of what was generated; later it is a new wish. */
  readonly edit_window_ms: number
  /** The class of the intent of a trace; default: the tool. */
  readonly classOf?: (trace_id: string) => string | undefined
}

type OpenGeneration = Omit<WorkflowGeneration, 'verdict' | 'executions'> & {
  readonly runs: Map<string, 'success' | 'failed'>
  readonly digest: string | undefined
  verdict: GenerationVerdict | undefined
  state: 'unknown' | 'live' | 'refused'
}

type WorkflowHistory = { readonly generations: OpenGeneration[]; isRemoved: boolean }

/** Workflows by tenant, label, kind and uid; and by the name of their DAG, which runs have. */
type Histories = { readonly byUid: Map<string, WorkflowHistory>; readonly byDag: Map<string, WorkflowHistory> }

/**
 * Folds observations, in the order of their times; each `yield` lets other work go on. A later observation may change the verdict on
 * an earlier generation.
 */
export function* foldGenerations(
  observations: readonly ToolObservation[],
  terms: OutcomeTerms,
): Generator<undefined, WorkflowGeneration[]> {
  const histories: Histories = { byUid: new Map(), byDag: new Map() }
  const calls = observations.flatMap((observation) => readObservedCall(observation) ?? [])
  for (const call of calls.sort(compareCalls)) {
    yield
    const generating = findGeneratingTool(call.name)
    if (generating) addGeneration(histories, call, generating, terms)
    for (const kind of workflowKinds) {
      if (kind.removing.some((tool) => isNamed(call.name, kind, tool))) applyRemoval(histories, call, kind)
      if (kind.showing.some((tool) => isNamed(call.name, kind, tool))) applyShown(histories, call, kind)
    }
  }
  return [...histories.byUid.values()].flatMap(({ generations }) => generations.map(closeGeneration))
}

function addGeneration(
  { byUid, byDag }: Histories,
  { observation, input, output, at }: ObservedCall,
  { kind, tool, read }: GeneratingTool,
  { edit_window_ms, classOf }: OutcomeTerms,
): void {
  const draft = read(input)
  const uid = readId(output, 'uid') ?? readId(input, 'uid')
  if (!draft.hasGraph || uid === undefined) return
  const key = keyOf(observation, kind, uid)
  const history = byUid.get(key) ?? { generations: [], isRemoved: false }
  byUid.set(key, history)
  const dag_id = readId(output, 'dag_id')
  if (dag_id !== undefined) byDag.set(keyOf(observation, kind, dag_id), history)
  const digest = draft.dag && sha256(JSON.stringify(draft.dag.tasks))
  const before = history.generations.at(-1)
  // The same request again, or the same graph deployed again.
  if (before && !history.isRemoved && digest !== undefined && digest === before.digest) return
  if (before) before.verdict ??= judgeReplaced(before, at - before.at <= edit_window_ms)
  history.isRemoved = false
  const { tenant_id, label, trace_id } = observation
  history.generations.push({
    ...{ tenant_id, label, service: kind.service, object: kind.object, uid, trace_id, at },
    ...{ intent_class: classOf?.(trace_id) ?? `${kind.service}/${tool}`, steps: listSteps(draft) },
    ...{ digest, runs: new Map(), verdict: undefined, state: 'unknown' },
  })
}

function judgeReplaced({ state }: OpenGeneration, isSoon: boolean): GenerationVerdict | undefined {
  if (isSoon || state === 'refused') return 'edited'
  return state === 'live' ? 'accepted' : undefined
}

function applyRemoval({ byUid }: Histories, { observation, input }: ObservedCall, kind: WorkflowKind): void {
  const history = byUid.get(keyOf(observation, kind, readId(input, 'uid') ?? ''))
  const generation = history?.generations.at(-1)
  if (!history || !generation || history.isRemoved) return
  history.isRemoved = true
  generation.verdict ??= [...generation.runs.values()].includes('success') ? 'accepted' : 'discarded'
}

const shownStates: ReadonlyMap<string, OpenGeneration['state']> = new Map([
  ['active', 'live'],
  ['paused', 'live'],
  ['running', 'live'],
  ['rejected', 'refused'],
  ['error', 'refused'],
])

/** An answer shows whether a workflow is live, or runs of it. */
function applyShown(
  { byUid, byDag }: Histories,
  { observation, input, output }: ObservedCall,
  kind: WorkflowKind,
): void {
  const named = byUid.get(keyOf(observation, kind, readId(input, 'uid') ?? readId(output, 'uid') ?? ''))
  const newest = named?.isRemoved ? undefined : named?.generations.at(-1)
  if (newest) newest.state = shownStates.get(readId(output, 'status') ?? '') ?? newest.state
  for (const run of listReportedRuns(output)) {
    const history = named ?? byDag.get(keyOf(observation, kind, run.dag_id ?? ''))
    const generation = history && findGenerationOf(history, run.begun)
    if (!generation) continue
    generation.state = 'live'
    if (run.end) generation.runs.set(run.id, run.end)
  }
}

/** The one whose graph ran: the newest that was there when the run began. */
function findGenerationOf({ generations }: WorkflowHistory, begun: number | undefined): OpenGeneration | undefined {
  if (begun === undefined) return generations.at(-1)
  // The first run may begin before the answer to the call that deployed it was observed.
  return generations.findLast(({ at }) => at <= begun) ?? generations[0]
}

function closeGeneration({ runs, state, digest: _digest, ...generation }: OpenGeneration): WorkflowGeneration {
  const ends = [...runs.values()]
  const success = ends.filter((end) => end === 'success').length
  return {
    ...generation,
    verdict: generation.verdict ?? (state === 'live' ? 'accepted' : undefined),
    executions: { success, failure: ends.length - success },
  }
}

/** Nothing is joined across tenants or labels. */
function keyOf(
  { tenant_id, label }: Pick<ToolObservation, 'tenant_id' | 'label'>,
  { service, object }: WorkflowKind,
  name: string,
): string {
  return JSON.stringify([tenant_id, label ? labelKey(label) : '', service, object, name])
}

function listSteps({ dag }: WorkflowDraft): string[] | undefined {
  if (!dag || listOrderFaults(dag).length > 0) return undefined
  return orderTasks(dag.tasks).map(({ operator }) => operator)
}
