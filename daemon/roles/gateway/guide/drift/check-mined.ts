// The four rules of drift (document 002, "Drift check"): a draft that agrees with the graphs is evolution; else it is held for review.

import type { GraphId } from '../graph/model.ts'
import type { MinedArtifact } from '../learning/mined-artifact.ts'
import { boundRate } from '../learning/significance.ts'
import { labelOperator } from '../workflow/labels.ts'
import { bareClass, type GraphView, type ViewedEdge } from './graph-view.ts'

export type DriftRule =
  | 'contradicted_edge'
  | 'unknown_intent'
  | 'inverted_edge'
  | 'diverging_trajectory'
  | 'window_divergence'
  | 'repeated_failures'

export type DriftFinding = {
  readonly rule: DriftRule
  readonly graph_id?: GraphId
  readonly source?: string
  readonly target?: string
  readonly recent?: number
  readonly long?: number
}

/** Weights are means of outcomes from 0 to 1. Below this, an edge speaks against what leads along it. */
const low_weight = 0.2
/** From this on, by the lower bound, an edge is strong: what says its opposite would invert it. */
const strong_weight = 0.7
/** Events of an edge, below which neither window says anything. */
const least_count = 30
/** Between the means of a short and a long horizon: some three standard deviations of the short one for a rate of one half. */
const divergence = 0.3

/**
 * `usual`: one leads to the other, by most of what was seen. `possible`: it has at least been seen, since a draft that is narrowed
 * by an argument or an order says nothing of all calls. `denied`: it does not lead there.
 */
type EdgeClaim = {
  readonly holds: 'usual' | 'possible' | 'denied'
  readonly graph_id: GraphId
  readonly source: string
  readonly target: string
}

/** Empty: evolution. */
export function checkMined(draft: MinedArtifact, graph: GraphView): DriftFinding[] {
  const findings = claimsOf(draft).flatMap((claim) => checkClaim(claim, graph))
  const intent_class = draft.applicability.intent_class
  if (intent_class !== undefined && !graph.knowsIntent(intent_class))
    findings.unshift({ rule: 'unknown_intent', source: intent_class })
  return findings
}

function checkClaim({ holds, ...ends }: EdgeClaim, graph: GraphView): DriftFinding[] {
  const edge = graph.listEdges(ends.graph_id, ends.source).find(({ target }) => target === ends.target)
  if (holds === 'denied') return edge && isStrong(edge) ? [{ rule: 'inverted_edge', ...ends, ...windowsOf(edge) }] : []
  if (!edge) return [{ rule: 'contradicted_edge', ...ends }]
  if (holds === 'possible') return []
  if (edge.weight < low_weight) return [{ rule: 'contradicted_edge', ...ends, ...windowsOf(edge) }]
  const isDeclining = edge.count >= least_count && projectWeight(edge) < low_weight
  return isDeclining ? [{ rule: 'diverging_trajectory', ...ends, ...windowsOf(edge) }] : []
}

function claimsOf({ type, content, service_name }: MinedArtifact): EdgeClaim[] {
  const claim = (holds: EdgeClaim['holds'], graph_id: GraphId, source: string, target: string) =>
    ({ holds, graph_id, source, target }) as const
  switch (type) {
    case 'IntentPattern':
      return content.operations.map((tool) =>
        claim('usual', 'intent_tool_graph', bareClass(content.intent_class), labelStep(tool, service_name)),
      )
    case 'DecisionTrajectory':
      return content.steps.map((tool) =>
        claim('usual', 'intent_tool_graph', bareClass(content.intent_class), labelStep(tool, service_name)),
      )
    case 'FailurePattern': {
      const ofAllCalls = content.argument === undefined && content.failure_rate > 0.5
      const denied = ofAllCalls ? [claim('denied', 'outcome_graph', content.tool, 'success')] : []
      return [...denied, claim('possible', 'outcome_graph', content.tool, 'error')]
    }
    case 'ToolPairingHint':
      return [claim('possible', 'outcome_graph', content.next_tool, 'success')]
    default:
      return []
  }
}

/** A tool has its service before it; an operator of a workflow has not. */
function labelStep(step: string, service_name: string | undefined): string {
  return service_name === undefined || step.includes('/') ? step : labelOperator(service_name, step)
}

function isStrong({ weight, count }: ViewedEdge): boolean {
  const sample = { successes: Math.round(weight * count), trials: count }
  return count >= least_count && boundRate(sample).low >= strong_weight
}

/** Where the edge goes if the change between the windows continues as far again. */
function projectWeight({ recent_weight, long_weight }: ViewedEdge): number {
  return Math.min(1, Math.max(0, 2 * recent_weight - long_weight))
}

const windowsOf = ({ recent_weight, long_weight }: ViewedEdge) => ({ recent: recent_weight, long: long_weight })

/** The primary signal of drift: the means of the two horizons of an edge have moved apart. */
export function findDivergence(edge: ViewedEdge): DriftFinding | undefined {
  const { graph_id, source, target, count, recent_weight, long_weight } = edge
  if (count < least_count || Math.abs(recent_weight - long_weight) < divergence) return undefined
  return { rule: 'window_divergence', graph_id, source, target, ...windowsOf(edge) }
}

/** Failures of layer 3 on traces with one artifact, within as short a time as this, that an administrator must see. */
const escalating_failures = 3
const escalation_window_ms = 600_000

/** `failures`: their times, in any order. */
export function isEscalating(failures: readonly number[], now: number): boolean {
  return failures.filter((at) => at <= now && now - at < escalation_window_ms).length >= escalating_failures
}
