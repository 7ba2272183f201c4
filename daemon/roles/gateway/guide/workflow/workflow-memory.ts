// The workflows of a process as observed calls show them: bounded, and read again from observations where it is missing.
import { sha256 } from '../../../../kernel/encoding/canonical-json.ts'
import { listOrderFaults, orderTasks } from '../../../../shared/assembled-dag/task-order.ts'
import type { OutcomeLabel } from '../graph/model.ts'
import { type GraphScope, scopeKey } from '../graph/rules.ts'
import { unclassified_intent } from '../intent/intent-class.ts'
import { observation_keep_ms } from '../observation/rules.ts'
import type { WorkflowDraft } from './draft.ts'
import { closeGeneration, type GenerationVerdict, type OpenGeneration, type WorkflowGeneration } from './generation.ts'
import { findWorkflowUses, type WorkflowKind, type WorkflowUse } from './intents.ts'
import { listReportedRuns, type ObservedCall, readId } from './observed-call.ts'

/** A change of the graph within this time is a correction of what was generated; later it is a new wish. */
const edit_window_ms = 3_600_000

/** What a call shows of a generation for the first time. `isRerun`: the same graph has run before. */
export type WorkflowEvent = { readonly generation: OpenGeneration; readonly at: number } & (
  | { readonly kind: 'generated' }
  | { readonly kind: 'outcome'; readonly outcome: OutcomeLabel; readonly isRerun: boolean }
)

type WorkflowHistory = {
  generations: OpenGeneration[]
  isRemoved: boolean
  readonly scope: string
  readonly keys: { readonly of: string; readonly dags: Set<string> }
}

const max_workflows = 5_000
/** Of one workflow: the newest. */
const max_generations = 8
/** Of one generation: more than an answer lists. */
const max_runs = 512
const max_dags = 4

export class WorkflowMemory {
  /** The newest batch of observations in it; undefined: observations must be read first. */
  seq: number | undefined
  /** By tenant, label, kind and uid. */
  readonly #byUid = new Map<string, WorkflowHistory>()
  /** By the name of their DAG, which runs have. */
  readonly #byDag = new Map<string, WorkflowHistory>()

  clear(): void {
    this.#byUid.clear()
    this.#byDag.clear()
    this.seq = undefined
  }

  /** Of one tenant and label. */
  *list(scope: GraphScope): Generator<WorkflowGeneration> {
    const key = scopeKey(scope)
    for (const history of this.#byUid.values()) {
      if (history.scope !== key) continue
      for (const each of history.generations) yield closeGeneration(each)
    }
  }

  /**
   * In the order of observations; each outcome is returned once. A later call may return another verdict on a generation.
   * `intent`: that of the trace of the call; undefined: unknown.
   */
  follow(call: ObservedCall, intent: string | undefined): WorkflowEvent[] {
    return findWorkflowUses(call.name).flatMap((use) => {
      if (use.does === 'generate') return this.#addGeneration(call, use, intent)
      return use.does === 'remove' ? this.#applyRemoval(call, use.kind) : this.#applyShown(call, use.kind)
    })
  }

  /** Without generations whose observations have expired, so that a process that reads them again knows as much. */
  #find(call: ObservedCall, kind: WorkflowKind, uid: string): WorkflowHistory | undefined {
    const history = this.#byUid.get(keyOf(call, kind, uid))
    return history && dropExpired(history, call.at)
  }

  #open(call: ObservedCall, kind: WorkflowKind, uid: string): WorkflowHistory {
    const of = keyOf(call, kind, uid)
    const history = this.#find(call, kind, uid) ?? {
      ...{ generations: [], isRemoved: false, scope: scopeKey(call.observation), keys: { of, dags: new Set() } },
    }
    // The one that is used becomes the newest.
    this.#byUid.delete(of)
    this.#byUid.set(of, history)
    const [oldest] = this.#byUid.values()
    if (this.#byUid.size > max_workflows && oldest) {
      this.#byUid.delete(oldest.keys.of)
      for (const dag of oldest.keys.dags) this.#byDag.delete(dag)
    }
    return history
  }

  #addGeneration(
    call: ObservedCall,
    { kind, tool, read }: Extract<WorkflowUse, { does: 'generate' }>,
    intent: string | undefined,
  ): WorkflowEvent[] {
    const { observation, input, output, at } = call
    const draft = read(input)
    const uid = readId(output, 'uid') ?? readId(input, 'uid')
    if (!draft.hasGraph || uid === undefined) return []
    const history = this.#open(call, kind, uid)
    const dag_id = readId(output, 'dag_id')
    if (dag_id !== undefined && history.keys.dags.size < max_dags) {
      history.keys.dags.add(keyOf(call, kind, dag_id))
      this.#byDag.set(keyOf(call, kind, dag_id), history)
    }
    const digest = draft.dag && sha256(JSON.stringify(draft.dag.tasks))
    const before = history.generations.at(-1)
    // The same request again, or the same graph deployed again.
    if (before && !history.isRemoved && digest !== undefined && digest === before.digest) return []
    const isCorrection = before !== undefined && (at - before.at <= edit_window_ms || before.state === 'refused')
    if (before) before.verdict ??= judgeReplaced(before, isCorrection)
    const { tenant_id, label, trace_id } = observation
    const corrects =
      isCorrection && !history.isRemoved
        ? { intent_class: before.intent_class, iteration: before.iteration }
        : undefined
    const isNamed = intent !== undefined && intent !== unclassified_intent
    const generation: OpenGeneration = {
      ...{ tenant_id, label, service: kind.service, tool, object: kind.object, uid, trace_id, at },
      ...{ intent_class: isNamed ? intent : `${kind.service}/${tool}`, steps: listSteps(draft), digest },
      ...{ runs: new Map(), verdict: undefined, reported: undefined },
      ...{ state: 'unknown', corrects, iteration: (corrects?.iteration ?? 0) + 1 },
    }
    history.isRemoved = false
    const replaced = reportVerdicts(history, at)
    history.generations = [...history.generations, generation].slice(-max_generations)
    return [...replaced, { kind: 'generated', generation, at }]
  }

  #applyRemoval(call: ObservedCall, kind: WorkflowKind): WorkflowEvent[] {
    const history = this.#find(call, kind, readId(call.input, 'uid') ?? '')
    const generation = history?.generations.at(-1)
    if (!history || !generation || history.isRemoved) return []
    history.isRemoved = true
    generation.verdict ??= hasSucceeded(generation) ? 'accepted' : 'discarded'
    return reportVerdicts(history, call.at)
  }

  /** An answer shows whether a workflow is live, or runs of it. */
  #applyShown(call: ObservedCall, kind: WorkflowKind): WorkflowEvent[] {
    const { input, output, at } = call
    const events: WorkflowEvent[] = []
    const named = this.#find(call, kind, readId(input, 'uid') ?? readId(output, 'uid') ?? '')
    const newest = named?.isRemoved ? undefined : named?.generations.at(-1)
    if (newest) newest.state = shownStates.get(readId(output, 'status') ?? '') ?? newest.state
    const shown = new Set(named ? [named] : [])
    for (const { id, dag_id, begun, end } of listReportedRuns(output)) {
      const history = named ?? this.#byDag.get(keyOf(call, kind, dag_id ?? ''))
      const generation = history && findGenerationOf(dropExpired(history, at), begun)
      if (!generation) continue
      shown.add(history)
      generation.state = 'live'
      if (end && addRun(generation, id, end))
        events.push({ kind: 'outcome', generation, at, ...outcomeOfRun(generation, end) })
    }
    return [...events, ...[...shown].flatMap((history) => reportVerdicts(history, at))]
  }
}

function dropExpired(history: WorkflowHistory, now: number): WorkflowHistory {
  const [oldest] = history.generations
  if (oldest && now - oldest.at > observation_keep_ms)
    history.generations = history.generations.filter(({ at }) => now - at <= observation_keep_ms)
  return history
}

function judgeReplaced({ state }: OpenGeneration, isCorrection: boolean): GenerationVerdict | undefined {
  if (isCorrection) return 'edited'
  return state === 'live' ? 'accepted' : undefined
}

const outcomeOfVerdict: Readonly<Record<GenerationVerdict, OutcomeLabel>> = {
  accepted: 'feedback_up',
  edited: 'feedback_down',
  discarded: 'feedback_abandoned',
}

/**
 * Verdicts that are new. A workflow that is live is accepted once a run has succeeded, or once it could no longer be corrected: until
 * then its author may not have looked at it.
 */
function reportVerdicts({ generations }: WorkflowHistory, at: number): WorkflowEvent[] {
  return generations.flatMap((generation) => {
    const isSettled = hasSucceeded(generation) || at - generation.at > edit_window_ms
    const verdict = generation.verdict ?? (generation.state === 'live' && isSettled ? 'accepted' : undefined)
    if (verdict === undefined || verdict === generation.reported) return []
    generation.reported = verdict
    return [{ kind: 'outcome' as const, generation, at, outcome: outcomeOfVerdict[verdict], isRerun: false }]
  })
}

function hasSucceeded({ runs }: OpenGeneration): boolean {
  return [...runs.values()].includes('success')
}

const shownStates: ReadonlyMap<string, OpenGeneration['state']> = new Map([
  ['active', 'live'],
  ['paused', 'live'],
  ['running', 'live'],
  ['rejected', 'refused'],
  ['error', 'refused'],
])

/** The one whose graph ran: the newest that was there when the run began. */
function findGenerationOf({ generations }: WorkflowHistory, begun: number | undefined): OpenGeneration | undefined {
  if (begun === undefined) return generations.at(-1)
  // The first run may begin before the answer to the call that deployed it was observed.
  return generations.findLast(({ at }) => at <= begun) ?? generations[0]
}

/** False: it is known already. */
function addRun({ runs }: OpenGeneration, id: string, end: 'success' | 'failed'): boolean {
  if (runs.has(id)) return false
  runs.set(id, end)
  const [oldest] = runs.keys()
  if (runs.size > max_runs && oldest !== undefined) runs.delete(oldest)
  return true
}

function outcomeOfRun({ runs }: OpenGeneration, end: 'success' | 'failed') {
  return { outcome: end === 'success' ? 'success' : 'error', isRerun: runs.size > 1 } as const
}

/** Nothing is joined across tenants or labels. */
function keyOf({ observation: { tenant_id, label } }: ObservedCall, of: WorkflowKind, name: string): string {
  return JSON.stringify([scopeKey({ tenant_id, label }), of.service, of.object, name])
}

function listSteps({ dag }: WorkflowDraft): string[] | undefined {
  if (!dag || listOrderFaults(dag).length > 0) return undefined
  return orderTasks(dag.tasks).map(({ operator }) => operator)
}
