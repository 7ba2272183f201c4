// Makes a graph of the tenant and label of a snapshot what that snapshot has; what it was before is kept as a snapshot too.
import * as z from 'zod'
import { isRefusal, refuse } from '../../../../kernel/error/errors.ts'
import type { Call } from '../../../../kernel/operation/call.ts'
import { operation } from '../../../../kernel/operation/operation.ts'
import { requiredText } from '../../../../kernel/operation/required-text.ts'
import { observerPart } from '../observation/parts.ts'
import { runGraphTask } from '../observation/run-graph-task.ts'
import { guideSettings } from '../settings.ts'
import { takeSnapshot } from './graph-snapshots.ts'
import { type GraphId, graphIds } from './model.ts'
import { recordRollback } from './record-rollback.ts'
import type { GraphScope } from './rules.ts'
import { graphSnapshots } from './snapshot-model.ts'
import { openTurn, performWork } from './turn.ts'

export const rollback = operation({
  summary: 'Restore a decision graph from a snapshot',
  method: 'POST',
  path: '/api/v1/guide/graphs/{graph_id}/rollback',
  tool: 'guide_rollback_graph',
  surface: 'admin_chat',
  input: z.strictObject({
    graph_id: z.enum(graphIds),
    snapshot_id: z.string().min(1).max(128),
    rationale: requiredText(2_048).meta({ description: 'Why, for the audit record' }),
  }),
  output: z
    .strictObject({
      graph_id: z.enum(graphIds),
      snapshot_id: z.string(),
      before_snapshot_id: z.string().optional().meta({ description: 'Of the graph before; absent: it was empty' }),
    })
    .meta({ id: 'GuideGraphRollback' }),
  errors: ['not_found'],
  allow: 'guide:admin',

  async run(call, { graph_id, snapshot_id, rationale }) {
    const { value: snapshot } = await call.store(graphSnapshots).get(snapshot_id)
    if (snapshot.graph_id !== graph_id || snapshot.part !== 0)
      return refuse('not_found', `${graph_id} has no such snapshot`)
    const { tenant_id, label } = snapshot
    const rolledBack = await runGraphTask(call, (worker) =>
      rollBack(worker, call, { scope: { tenant_id, label }, graph_id, snapshot_id, rationale }),
    )
    if (isRefusal(rolledBack)) return rolledBack
    const { before_snapshot_id } = rolledBack
    return { graph_id, snapshot_id, ...(before_snapshot_id === undefined ? {} : { before_snapshot_id }) }
  },
})

type RollbackTerms = {
  readonly scope: GraphScope
  readonly graph_id: GraphId
  readonly snapshot_id: string
  readonly rationale: string
}

/** `call`: of the administrator, whose record comes before the change. */
async function rollBack(worker: Call, call: Call, { scope, graph_id, snapshot_id, rationale }: RollbackTerms) {
  const { book, attempt } = worker.part(observerPart)
  const { ingest_worker_concurrency: concurrency } = worker.settings(guideSettings)
  for (;;) {
    const head = await openTurn(worker, { book, attempt, concurrency })
    const before_snapshot_id = await takeSnapshot(worker, book, scope, graph_id, `before ${worker.random(8)}`)
    const actor = `admin:${call.caller.subject}`
    await recordRollback(call, {
      ...{ graph_id, label: scope.label, actor, rationale, before_snapshot_id, after_snapshot_id: snapshot_id },
    })
    const work = { kind: 'rollback', scope, graph_id, snapshot_id } as const
    if (await performWork(worker, { book, attempt, concurrency }, head, work)) return { before_snapshot_id }
  }
}
