// The graph update of one observation: decision points, nodes and edges, by its type and what its trace did before.

import { classifyIntent, classOfSchema, unclassified_intent } from '../intent/intent-class.ts'
import { shapeOfPrompt } from '../intent/prompt-shape.ts'
import { authorOf, type PendingObservation } from '../observation/rules.ts'
import { executions, max_iterations, type OutcomeLabel, verdicts } from './model.ts'
import type { GraphMoment, GraphPlan } from './plan.ts'
import { type BoundedMemory, type ConversationMemory, max_decisions, type TraceMemory } from './trace-memory.ts'

export type EventMemory = {
  readonly traces: BoundedMemory<TraceMemory>
  readonly conversations: BoundedMemory<ConversationMemory>
}

type GraphEvent = Pick<
  PendingObservation,
  | 'tenant_id'
  | 'label'
  | 'event_type'
  | 'trace_id'
  | 'conversation_id'
  | 'service'
  | 'timestamp'
  | 'create_ts'
  | 'payload'
  | 'caller_identity'
  | 'emitted_by'
>

/** A follow-up is neither good nor bad. */
const verdictOfKind: Readonly<Record<string, OutcomeLabel>> = {
  abandoned: 'feedback_abandoned',
  correction: 'feedback_down',
  down: 'feedback_down',
  up: 'feedback_up',
}

/** Ids of traces and conversations are chosen by callers: events of another author under the same id have a memory of their own. */
export function nameTrace(event: Pick<GraphEvent, 'trace_id' | 'caller_identity' | 'emitted_by'>): string {
  return `${event.trace_id} ${authorOf(event)}`
}

export function nameConversation(
  event: Pick<GraphEvent, 'conversation_id' | 'caller_identity' | 'emitted_by'>,
): string {
  return `${event.conversation_id} ${authorOf(event)}`
}

/** The same for the same events in the same order: no model, no clock and no randomness. */
export function followEvent(plan: GraphPlan, memory: EventMemory, event: GraphEvent): void {
  const scope = { tenant_id: event.tenant_id, label: event.label }
  const { trace_id } = event
  // An emitter may have a clock of its own: nothing is seen in the future.
  const moment = { scope, trace_id, at: Math.min(Date.parse(event.timestamp), event.create_ts) }
  const trace = memory.traces.open(scope, nameTrace(event), event.create_ts, () => ({
    ...{ intent: unclassified_intent, decisions: [], outcome: undefined },
  }))
  const step = { plan, memory, event, moment, trace }
  steps[event.event_type](step)
}

type GraphStep = {
  readonly plan: GraphPlan
  readonly memory: EventMemory
  readonly event: GraphEvent
  readonly moment: GraphMoment
  readonly trace: TraceMemory
}

const steps: Readonly<Record<GraphEvent['event_type'], (step: GraphStep) => void>> = {
  intent_schema({ event, trace, plan, moment }) {
    const schema = event.payload.schema
    const named = isObject(schema) ? classOfSchema(schema) : undefined
    if (named === undefined) return
    trace.intent = named
    seeIntent(plan, moment, event.service, named)
  },
  user_prompt: followPrompt,
  llm_turn({ event, trace, plan, moment }) {
    const { tool_calls } = event.payload
    const calls = typeof tool_calls === 'number' && tool_calls > 0
    const label = `${event.service}/${trace.intent}:${calls ? 'call_tools' : 'answer'}`
    const decision = plan.node(moment, { graph_id: 'outcome_graph', kind: 'decision_point', label })
    plan.share(moment, decision, event.payload.error === undefined ? 'success' : 'error', executions)
  },
  tool_output: followTool,
  tool_error: followTool,
  final_response: followResponse,
  user_feedback({ event, trace, plan, moment }) {
    const kind = textOf(event.payload.kind, '')
    const outcome = Object.hasOwn(verdictOfKind, kind) ? verdictOfKind[kind] : undefined
    if (outcome === undefined) return
    const graph_id = 'outcome_graph'
    for (const label of [`${event.service}/${trace.intent}`, ...trace.decisions]) {
      const decision = plan.node(moment, { graph_id, kind: 'decision_point', label, outcome, isOccurrence: false })
      plan.share(moment, decision, outcome, verdicts)
    }
  },
}

function followPrompt({ event, trace, plan, moment, memory }: GraphStep): void {
  const prompt = textOf(event.payload.prompt, '')
  // A schema of the trace has named the intent already.
  if (trace.intent === unclassified_intent) {
    trace.intent = classifyIntent(prompt, undefined)
    seeIntent(plan, moment, event.service, trace.intent)
  }
  const shape = `${event.service}/${shapeOfPrompt(prompt)}`
  const shape_id = plan.node(moment, { graph_id: 'prompt_shape_graph', kind: 'prompt_shape', label: shape })
  if (event.conversation_id === '') return
  const before = memory.conversations.open(moment.scope, nameConversation(event), event.create_ts, () => ({
    ...{ intent: '', shape: undefined, iteration: 0, state_id: undefined },
  }))
  const graph_id = 'prompt_shape_graph'
  if (before.shape !== undefined) {
    const source_id = plan.node(moment, { graph_id, kind: 'prompt_shape', label: before.shape, isOccurrence: false })
    plan.edge(moment, { graph_id, source_id, target_id: shape_id, value: 1 })
  }
  before.shape = shape
  before.iteration = before.intent === trace.intent ? before.iteration + 1 : 1
  if (before.iteration === 1) before.state_id = undefined
  before.intent = trace.intent
}

/** Of an answer: how the turn ended, and the step from the turn before with the same intent. */
function followResponse({ event, trace, plan, moment, memory }: GraphStep): void {
  const outcome = event.payload.outcome === 'error' || trace.outcome === 'error' ? 'error' : 'success'
  const label = `${event.service}/${trace.intent}`
  const decision = plan.node(moment, { graph_id: 'outcome_graph', kind: 'decision_point', label, outcome })
  plan.share(moment, decision, outcome, executions)
  const conversation =
    event.conversation_id === '' ? undefined : memory.conversations.find(moment.scope, nameConversation(event))
  const iteration = Math.min(conversation?.iteration ?? 1, max_iterations)
  const graph_id = 'iteration_graph'
  const state = `${label}#${iteration}`
  const state_id = plan.node(moment, { graph_id, kind: 'iteration_state', label: state, outcome })
  plan.edge(moment, {
    ...{ graph_id, source_id: state_id, target_id: decision, target_graph_id: 'outcome_graph' },
    value: outcome === 'success' ? 1 : 0,
  })
  if (!conversation) return
  if (conversation.state_id !== undefined && conversation.state_id !== state_id)
    plan.edge(moment, {
      ...{ graph_id, source_id: conversation.state_id, target_id: state_id },
      value: outcome === 'success' ? 1 : 0,
    })
  conversation.state_id = state_id
}

function followTool({ event, trace, plan, moment }: GraphStep): void {
  const { service } = event
  const outcome = event.event_type === 'tool_output' ? 'success' : 'error'
  const value = outcome === 'success' ? 1 : 0
  const tool = `${service}/${textOf(event.payload.tool, 'unknown')}`
  const intent = `gateway/${trace.intent}`
  const source_id = plan.node(moment, {
    ...{ graph_id: 'intent_tool_graph', kind: 'intent', label: intent, outcome, isOccurrence: isUnseen(trace) },
  })
  const tool_id = plan.node(moment, { graph_id: 'intent_tool_graph', kind: 'tool', label: tool, outcome })
  plan.edge(moment, { graph_id: 'intent_tool_graph', source_id, target_id: tool_id, value })
  const graph_id = 'service_routing_graph'
  const routed_id = plan.node(moment, {
    ...{ graph_id, kind: 'intent', label: intent, outcome, isOccurrence: isUnseen(trace) },
  })
  const service_id = plan.node(moment, { graph_id, kind: 'service', label: service, outcome })
  plan.edge(moment, { graph_id, source_id: routed_id, target_id: service_id, value })
  const decision = plan.node(moment, { graph_id: 'outcome_graph', kind: 'decision_point', label: tool, outcome })
  plan.share(moment, decision, outcome, executions)
  // Links between graphs: from a tool that was chosen to what came of it, and to the service that has it.
  plan.edge(moment, {
    ...{ graph_id: 'intent_tool_graph', source_id: tool_id, target_id: decision, target_graph_id: 'outcome_graph' },
    value,
  })
  plan.edge(moment, {
    graph_id: 'intent_tool_graph',
    source_id: tool_id,
    target_id: service_id,
    target_graph_id: graph_id,
    value,
  })
  if (!trace.decisions.includes(tool) && trace.decisions.length < max_decisions) trace.decisions.push(tool)
  // The last call decides: a turn that corrects its mistake has gone well.
  trace.outcome = outcome
}

/** Calls without a message are occurrences of the class of all such calls. */
function isUnseen({ intent }: TraceMemory): boolean {
  return intent === unclassified_intent
}

function seeIntent(plan: GraphPlan, moment: GraphMoment, service: string, intent: string): void {
  const label = `${service}/${intent}`
  plan.node(moment, { graph_id: 'intent_tool_graph', kind: 'intent', label })
  plan.node(moment, { graph_id: 'service_routing_graph', kind: 'intent', label })
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** A payload is untrusted: an object could throw when it is made a text. */
function textOf(value: unknown, otherwise: string): string {
  return typeof value === 'string' ? value : otherwise
}
