// Requests the third phase of a run, which joins its matches into clusters, and returns the largest.
import * as z from 'zod'
import { isRefusal } from '../../../kernel/error/errors.ts'
import { listFields } from '../../../kernel/operation/paging.ts'
import { clusterView, entityClusters, showCluster } from '../entity-cluster/model.ts'
import { uid } from '../fields.ts'
import { runTopic } from '../fusion-run/change-run.ts'
import { acceptPoor, fusionRuns, lensOverrides, runView, showRun } from '../fusion-run/model.ts'
import { requestPhase } from '../fusion-run/request-phase.ts'
import { isAtGoal } from '../fusion-run/rules.ts'
import { matchingOperation } from '../matching.ts'
import { runWork } from '../parts.ts'
import { waitForDocument } from '../wait-for-document.ts'

export const resolve = matchingOperation({
  summary: 'Join the matches of a run into entities; returns the largest once the run has completed',
  method: 'POST',
  path: '/api/v2/fusion/resolve/{run_id}',
  tool: 'fusion_resolve_phase',
  input: z.strictObject({
    run_id: uid,
    threshold: lensOverrides.threshold,
    accept_poor: acceptPoor,
    limit: listFields.limit,
  }),
  output: z
    .strictObject({
      run: runView,
      items: z
        .array(clusterView)
        .meta({ description: 'Clusters, largest first; empty while the phase is in progress, or if the run is held' }),
      next_cursor: z
        .string()
        .optional()
        .meta({ description: 'Cursor for the list of entity clusters with this run_id' }),
    })
    .meta({ id: 'ResolvePhase' }),
  errors: ['not_found', 'not_your_tenant', 'wrong_state', 'precondition_failed'],
  allow: 'resolution:write',

  async run(call, { run_id, threshold, accept_poor, limit }) {
    const changed = await requestPhase(call, run_id, { goal: 'completed', threshold, accept_poor })
    if (isRefusal(changed)) return changed
    const doc = await waitForDocument(call, fusionRuns, changed, runTopic(run_id), isAtGoal)
    const run = showRun(doc, call.part(runWork).progress(run_id))
    if (doc.value.state !== 'completed') return { run, items: [] }
    const filter = { run_id, state: 'live', size: { gte: 2 } }
    const order = { field: 'size', direction: 'desc' } as const
    const { docs, ...next } = await call.store(entityClusters).list({ filter, order, limit, fresh: true })
    return { run, items: docs.map(showCluster), ...next }
  },
})
