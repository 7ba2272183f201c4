// Gathers what a synthesis is given: the trace, the part of the graphs around it, the artifacts that concern it, and its figures.
import type { Call } from '../../../../kernel/operation/call.ts'
import { runInSlices } from '../../../../kernel/role/run-in-slices.ts'
import { type Doc, labelKeyOf } from '../../../../kernel/store/store.ts'
import { type Artifact, artifacts } from '../artifact/model.ts'
import type { GraphView, ViewedEdge } from '../drift/graph-view.ts'
import { viewGraph } from '../drift/view-graph.ts'
import { loadActive } from '../evaluation/evaluate-trace.ts'
import type { GraphScope } from '../graph/rules.ts'
import { classOfPrompt } from '../intent/intent-class.ts'
import { learningPart } from '../learning/parts.ts'
import { loadAgents, loadTrace } from '../learning/read-traces.ts'
import type { TraceRecord } from '../learning/trace-record.ts'
import { observerPart } from '../observation/parts.ts'
import { chooseShown } from './choose-shown.ts'
import type { WaitingSynthesis } from './synthesis-queue.ts'

const max_proposed = 100
const max_tools = 16

export type LoadedInputs = {
  readonly trace: TraceRecord
  readonly traces: readonly TraceRecord[]
  readonly graph: GraphView
  readonly edges: readonly ViewedEdge[]
  readonly active: readonly Doc<Artifact>[]
  readonly shown: readonly Doc<Artifact>[]
}

/** Of the tenant and label of the trigger alone. */
export async function loadInputs(call: Call, synthesis: WaitingSynthesis): Promise<LoadedInputs> {
  const { scope } = synthesis
  const trace = await loadOwnTrace(call, synthesis)
  const graph = await runInSlices(call, viewGraph(call.part(observerPart).book, scope))
  const active = await loadActive(call, scope)
  const { traces } = call.part(learningPart).openWindow(scope)
  const shown = chooseShown([...active, ...(await loadProposed(call, scope))], trace)
  return { trace, traces, graph, edges: chooseEdges(graph, trace), active, shown }
}

/** The message of an administrator has no observations: its intent is read from its words. */
async function loadOwnTrace(
  call: Call,
  { scope, trace_id, event, settled_ms }: WaitingSynthesis,
): Promise<TraceRecord> {
  const trace = await loadTrace(call, { scope, trace_id, settled_ms }, await loadAgents(call))
  const { message } = event.payload
  const isMessage = trace.trace_id === '' && typeof message === 'string'
  return { ...trace, trace_id, ...(isMessage ? { intent_class: classOfPrompt(message) } : {}) }
}

async function loadProposed(call: Call, scope: GraphScope): Promise<readonly Doc<Artifact>[]> {
  const filter = { status: 'proposed', tenant_id: scope.tenant_id, label_key: labelKeyOf(scope) }
  const order = { field: 'update_ts', direction: 'desc' } as const
  return (await call.store(artifacts).list({ filter, order, limit: max_proposed })).docs
}

function chooseEdges(graph: GraphView, { intent_class, calls }: TraceRecord): ViewedEdge[] {
  const tools = [...new Set(calls.map(({ tool }) => tool))].slice(0, max_tools)
  return [
    ...graph.listEdges('intent_tool_graph', intent_class),
    ...graph.listEdges('service_routing_graph', intent_class),
    ...tools.flatMap((tool) => graph.listEdges('outcome_graph', tool)),
  ]
}
