// Adds generated workflows to the graphs: their operators as decisions, their outcomes, and rows of corrections and runs.
import { bareClass } from '../drift/graph-view.ts'
import type { StoredObservation } from '../observation/model.ts'
import type { OpenGeneration } from '../workflow/generation.ts'
import { findWorkflowUses } from '../workflow/intents.ts'
import { labelDecision, labelOperator } from '../workflow/labels.ts'
import { type ObservedCall, readObservedCall } from '../workflow/observed-call.ts'
import type { WorkflowEvent, WorkflowMemory } from '../workflow/workflow-memory.ts'
import { nameTrace } from './follow-event.ts'
import { executions, max_iterations, type OutcomeLabel, verdicts } from './model.ts'
import type { GraphMoment, GraphPlan } from './plan.ts'
import type { BoundedMemory, TraceMemory } from './trace-memory.ts'

type WorkflowMemories = { readonly traces: BoundedMemory<TraceMemory>; readonly workflows: WorkflowMemory }

/** Undefined for an observation that has nothing to do with workflows. An emitter may have a clock of its own. */
export function readWorkflowCall(observation: StoredObservation): ObservedCall | undefined {
  const { event_type, service, payload, create_ts } = observation
  if (event_type !== 'tool_output' || typeof payload.tool !== 'string') return undefined
  // By the service alone, whose observations are read again: not by the name that the gateway gives its tools.
  const isOwn = findWorkflowUses({ service, tool: payload.tool }).some(({ kind }) => kind.service === service)
  const call = isOwn ? readObservedCall(observation) : undefined
  return call && { ...call, at: Math.min(call.at, create_ts) }
}

/** Brings the memory up to calls whose outcomes are in the graphs already. */
export function recallWorkflow({ traces, workflows }: WorkflowMemories, call: ObservedCall): WorkflowEvent[] {
  const { observation } = call
  return workflows.follow(call, traces.find(observation, nameTrace(observation))?.intent)
}

/** Each outcome is counted once, where an answer shows it first. */
export function followWorkflow(plan: GraphPlan, memories: WorkflowMemories, call: ObservedCall): void {
  for (const event of recallWorkflow(memories, call)) addEvent(plan, event)
}

function addEvent(plan: GraphPlan, event: WorkflowEvent): void {
  const { generation, at } = event
  const { tenant_id, label, trace_id, service, steps } = generation
  if (!steps) return
  const moment: GraphMoment = { scope: { tenant_id, label }, trace_id, at }
  const outcome = event.kind === 'outcome' ? event.outcome : undefined
  const of = { ...(outcome === undefined ? {} : { outcome }), isOccurrence: event.kind === 'generated' }
  const decision = plan.node(moment, {
    ...{ graph_id: 'outcome_graph', kind: 'decision_point', label: labelDecision(service, steps), ...of },
  })
  const state = plan.node(moment, {
    ...{ graph_id: 'iteration_graph', kind: 'iteration_state', label: labelState(generation, generation), ...of },
  })
  if (event.kind === 'generated') return
  plan.share(moment, decision, event.outcome, executions.includes(event.outcome) ? executions : verdicts)
  const value = isGood(event.outcome) ? 1 : 0
  const graph_id = 'iteration_graph'
  plan.edge(moment, { graph_id, source_id: state, target_id: decision, target_graph_id: 'outcome_graph', value })
  if (event.isRerun) plan.edge(moment, { graph_id, source_id: state, target_id: state, value })
  const { corrects } = generation
  if (corrects) {
    const source_id = plan.node(moment, {
      ...{ graph_id, kind: 'iteration_state', label: labelState(generation, corrects), isOccurrence: false },
    })
    plan.edge(moment, { graph_id, source_id, target_id: state, value })
  }
  addChoices(plan, moment, { generation, decision, outcome: event.outcome })
}

type WorkflowChoice = {
  readonly generation: OpenGeneration
  readonly decision: string
  readonly outcome: OutcomeLabel
}

/** From the intent to each of its operators, and from the tool that was chosen to what came of it. */
function addChoices(
  plan: GraphPlan,
  moment: GraphMoment,
  { generation: { service, tool, intent_class, steps = [] }, decision, outcome }: WorkflowChoice,
): void {
  const graph_id = 'intent_tool_graph'
  const value = isGood(outcome) ? 1 : 0
  const node = (kind: 'intent' | 'tool', label: string) =>
    plan.node(moment, { graph_id, kind, label, outcome, isOccurrence: false })
  const intent = node('intent', labelIntent(intent_class))
  for (const operator of new Set(steps))
    plan.edge(moment, { graph_id, source_id: intent, target_id: node('tool', labelOperator(service, operator)), value })
  const source_id = plan.node(moment, { graph_id, kind: 'tool', label: `${service}/${tool}`, isOccurrence: false })
  plan.edge(moment, { graph_id, source_id, target_id: decision, target_graph_id: 'outcome_graph', value })
}

/** Of a class that is a tool already, since no message led to it. */
function labelIntent(intent_class: string): string {
  return intent_class.includes('/') ? intent_class : `gateway/${intent_class}`
}

function labelState(
  { service, object }: OpenGeneration,
  { intent_class, iteration }: Pick<OpenGeneration, 'intent_class' | 'iteration'>,
): string {
  return `${service}/${object}:${bareClass(intent_class)}#${Math.min(iteration, max_iterations)}`
}

function isGood(outcome: OutcomeLabel): boolean {
  return outcome === 'success' || outcome === 'feedback_up'
}
