// Requests the second phase of a run, which compares and scores its records, and returns the best matches.
import * as z from 'zod'
import { isRefusal } from '../../../kernel/error/errors.ts'
import { listFields } from '../../../kernel/operation/paging.ts'
import { entityMatches, matchView, showMatch } from '../entity-match/model.ts'
import { uid } from '../fields.ts'
import { runTopic } from '../fusion-run/change-run.ts'
import { fusionRuns, runView, showRun } from '../fusion-run/model.ts'
import { requestPhase } from '../fusion-run/request-phase.ts'
import { isAtGoal } from '../fusion-run/rules.ts'
import { matchingOperation } from '../matching.ts'
import { runWork } from '../parts.ts'
import { waitForDocument } from '../wait-for-document.ts'

export const match = matchingOperation({
  summary: 'Compare and score the records of a run; returns its best matches once they are scored',
  method: 'POST',
  path: '/api/v2/fusion/match/{run_id}',
  tool: 'fusion_match_phase',
  input: z.strictObject({ run_id: uid, limit: listFields.limit }),
  output: z
    .strictObject({
      run: runView,
      items: z
        .array(matchView)
        .meta({ description: 'Matches, most certain first; empty while the phase is in progress' }),
      next_cursor: z.string().optional().meta({ description: 'Cursor for entity_match_list with this run_id' }),
    })
    .meta({ id: 'MatchPhase' }),
  errors: ['not_found', 'not_your_tenant', 'wrong_state', 'precondition_failed'],
  allow: 'resolution:write',

  async run(call, { run_id, limit }) {
    const changed = await requestPhase(call, run_id, { goal: 'matched' })
    if (isRefusal(changed)) return changed
    const doc = await waitForDocument(call, fusionRuns, changed, runTopic(run_id), isAtGoal)
    const run = showRun(doc, call.part(runWork).progress(run_id))
    if (!['matched', 'completed'].includes(doc.value.state)) return { run, items: [] }
    const order = { field: 'rank', direction: 'desc' } as const
    const { docs, ...next } = await call.store(entityMatches).list({ filter: { run_id }, order, limit, fresh: true })
    return { run, items: docs.map(showMatch), ...next }
  },
})
