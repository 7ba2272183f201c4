// The plan of a batch: what its observations add to nodes and edges, joined by node and edge.
import { labelKeyOf } from '../../../../kernel/store/store.ts'
import { GraphIds } from './graph-ids.ts'
import { type GraphId, max_traces, type OutcomeLabel } from './model.ts'
import type { EdgeDelta, GraphScope, NodeDelta, NodeKind } from './rules.ts'

/** One event of a trace, as far as graphs keep it. */
export type GraphMoment = { readonly scope: GraphScope; readonly at: number; readonly trace_id: string }

export type NodeAddition = {
  readonly graph_id: GraphId
  readonly kind: NodeKind
  readonly label: string
  readonly outcome?: OutcomeLabel | undefined
  /** False: an outcome of an occurrence that was counted before. */
  readonly isOccurrence?: boolean
}

export type EdgeAddition = {
  readonly source_id: string
  readonly target_id: string
  readonly graph_id: GraphId
  readonly target_graph_id?: GraphId
  readonly value: number
}

/** Whether a graph may have one more node, whose label is `other` otherwise; or one more edge, which is left out. */
export type GraphAdmission = (scope: GraphScope, graph_id: GraphId, id: string) => boolean

const max_label = 300

export class GraphPlan {
  readonly nodes = new Map<string, NodeDelta>()
  readonly edges = new Map<string, EdgeDelta>()
  readonly #ids = new GraphIds()
  readonly #admits: GraphAdmission
  readonly #admitsEdge: GraphAdmission

  constructor(admits: GraphAdmission, admitsEdge: GraphAdmission = admits) {
    this.#admits = admits
    this.#admitsEdge = admitsEdge
  }

  /** Adds to a node, and returns its id. */
  node({ scope, at, trace_id }: GraphMoment, addition: NodeAddition): string {
    const { graph_id, kind, outcome, isOccurrence = true } = addition
    const label = addition.label.slice(0, max_label).toWellFormed()
    const known = this.#ids.node(scope, graph_id, kind, label)
    // Outcomes are five: an edge to one needs its own node.
    const isAdmitted = kind === 'outcome' || this.nodes.has(known) || this.#admits(scope, graph_id, known)
    const node_label = isAdmitted ? label : 'other'
    const id = isAdmitted ? known : this.#ids.node(scope, graph_id, kind, node_label)
    const delta = this.nodes.get(id) ?? {
      ...{ id, scope, graph_id, kind, node_label, occurrences: 0, outcomes: {} },
      ...{ first_ts: at, last_ts: at, trace_ids: [] },
    }
    this.nodes.set(id, delta)
    if (isOccurrence) delta.occurrences += 1
    if (outcome !== undefined) delta.outcomes[outcome] = (delta.outcomes[outcome] ?? 0) + 1
    see(delta, at, trace_id)
    return id
  }

  /** Adds to an edge that is weighed by how it went. */
  edge(moment: GraphMoment, addition: EdgeAddition): void {
    this.#weigh(moment, { ...addition, siblings: [], isTaken: true })
  }

  /** Adds to the share that an outcome has of the decisions at its source; that of the others becomes smaller. */
  share(moment: GraphMoment, source_id: string, outcome: OutcomeLabel, among: readonly OutcomeLabel[]): void {
    const { scope } = moment
    const graph_id = 'outcome_graph'
    const targets = among.map((each) => ({ each, target_id: this.#ids.node(scope, graph_id, 'outcome', each) }))
    for (const { each, target_id } of targets) {
      const isTaken = each === outcome
      if (isTaken) this.node(moment, { graph_id, kind: 'outcome', label: each })
      const siblings = targets
        .filter((other) => other.each !== each)
        .map((other) => this.#ids.edge(source_id, other.target_id))
      this.#weigh(moment, { graph_id, source_id, target_id, value: isTaken ? 1 : 0, siblings, isTaken })
    }
  }

  #weigh(
    { scope, at, trace_id }: GraphMoment,
    {
      value,
      siblings,
      isTaken,
      ...ends
    }: EdgeAddition & { readonly siblings: readonly string[]; readonly isTaken: boolean },
  ): void {
    const id = this.#ids.edge(ends.source_id, ends.target_id)
    if (!this.edges.has(id) && !this.#admitsEdge(scope, ends.graph_id, id)) return
    const delta = this.edges.get(id) ?? {
      ...{ id, scope, ...ends, count: 0, values: [], siblings },
      ...{ first_ts: at, last_ts: at, trace_ids: [] },
    }
    this.edges.set(id, delta)
    delta.values.push(value)
    if (!isTaken) return
    delta.count += 1
    see(delta, at, trace_id)
  }
}

function see(delta: NodeDelta | EdgeDelta, at: number, trace_id: string): void {
  delta.first_ts = Math.min(delta.first_ts, at)
  delta.last_ts = Math.max(delta.last_ts, at)
  const { trace_ids } = delta
  const seen = trace_ids.lastIndexOf(trace_id)
  if (seen >= 0 && seen === trace_ids.length - 1) return
  if (seen >= 0) trace_ids.splice(seen, 1)
  trace_ids.push(trace_id)
  if (trace_ids.length > max_traces) trace_ids.shift()
}

/** Of one scope, so that nothing of one tenant or label follows from another. */
export function memoryKey(scope: GraphScope, id: string): string {
  return JSON.stringify([scope.tenant_id, labelKeyOf(scope), id])
}
