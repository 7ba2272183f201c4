// Records a rollback of a graph before it is done: with its actor, its reason, and the snapshots before and after.
import type { Label } from '../../../../kernel/label/label.ts'
import type { Call } from '../../../../kernel/operation/call.ts'
import type { GraphId } from './model.ts'

export type GraphRollback = {
  readonly graph_id: GraphId
  readonly label: Label | undefined
  /** `admin:<username>`. */
  readonly actor: string
  readonly rationale: string
  /** Undefined: the graph was empty. */
  readonly before_snapshot_id: string | undefined
  /** The one that the graph becomes. */
  readonly after_snapshot_id: string
}

/** Durable when it resolves. Records of the curator are joined here: `action` rollback, `indefinite`. */
export async function recordRollback(call: Call, { label, graph_id, ...detail }: GraphRollback): Promise<void> {
  await call.record([call.audited('gateway.guide.graph.rolled_back', graph_id, detail, label)])
}
