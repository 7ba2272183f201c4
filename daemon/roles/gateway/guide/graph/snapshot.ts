// Takes a snapshot of a graph now, for each label of the tenant that the administrator may see.
import * as z from 'zod'
import { isRefusal } from '../../../../kernel/error/errors.ts'
import { dominates } from '../../../../kernel/label/label.ts'
import type { Call } from '../../../../kernel/operation/call.ts'
import { operation } from '../../../../kernel/operation/operation.ts'
import { observerPart } from '../observation/parts.ts'
import { runGraphTask } from '../observation/run-graph-task.ts'
import { guideSettings } from '../settings.ts'
import { listScopes, takeSnapshot } from './graph-snapshots.ts'
import { type GraphId, graphIds } from './model.ts'
import { shownSnapshot, showSnapshot } from './show-graph.ts'
import { graphSnapshots } from './snapshot-model.ts'
import { openTurn } from './turn.ts'

export const snapshot = operation({
  summary: 'Take a snapshot of a decision graph now, as before a change by hand',
  method: 'POST',
  path: '/api/v1/guide/graphs/{graph_id}/snapshot',
  input: z.strictObject({ graph_id: z.enum(graphIds) }),
  output: z
    .strictObject({ snapshots: z.array(shownSnapshot).meta({ description: 'One for each label; none: it is empty' }) })
    .meta({ id: 'GuideGraphSnapshots' }),
  errors: [],
  allow: 'guide:admin',
  status: 201,

  async run(call, { graph_id }) {
    const taken = await runGraphTask(call, (worker) => takeAll(worker, call, graph_id))
    if (isRefusal(taken)) return taken
    const docs = await Promise.all(taken.map((id) => call.store(graphSnapshots).get(id)))
    return { snapshots: docs.map(({ value }) => showSnapshot(value)) }
  },
})

async function takeAll(worker: Call, { caller, site }: Call, graph_id: GraphId): Promise<string[]> {
  const { book, attempt } = worker.part(observerPart)
  const { ingest_worker_concurrency: concurrency } = worker.settings(guideSettings)
  await openTurn(worker, { book, attempt, concurrency })
  const taken: string[] = []
  for (const scope of listScopes(book)) {
    const isSeen = scope.label === undefined || dominates(caller, scope.label, site.labels)
    if (scope.tenant_id !== caller.tenant_id || !isSeen) continue
    const id = await takeSnapshot(worker, book, scope, graph_id, `by hand ${worker.random(8)}`)
    if (id !== undefined) taken.push(id)
  }
  return taken
}
