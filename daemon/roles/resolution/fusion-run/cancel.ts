// Ends a run before it is through. Its files go; matches that were written already stay.
import * as z from 'zod'
import { isRefused } from '../../../kernel/errors.ts'
import { uid } from '../fields.ts'
import { matchingOperation } from '../matching.ts'
import { changeRun } from './change.ts'
import { runView, shown } from './model.ts'
import { cancelled } from './rules.ts'

export const cancel = matchingOperation({
  summary: 'Cancel a run',
  method: 'DELETE',
  path: '/api/v2/fusion/run/{run_id}',
  tool: 'fusion_run_cancel',
  input: z.strictObject({ run_id: uid }),
  output: runView,
  errors: ['not_found', 'not_your_tenant', 'wrong_state', 'precondition_failed'],
  allow: 'resolution:write',
  versioned: true,

  async run(call, { run_id }) {
    const done = await changeRun(call, run_id, 'resolution.fusion-run.cancel', (run) =>
      cancelled(run, call.nowIso(), call.now()),
    )
    if (isRefused(done)) return done
    call.wake('files')
    return shown(done)
  },
})
