// Cancels a run. Its files are removed; matches already written stay.
import * as z from 'zod'
import { isRefusal } from '../../../kernel/error/errors.ts'
import { uid } from '../fields.ts'
import { matchingOperation } from '../matching.ts'
import { changeRun } from './change-run.ts'
import { runView, showRun } from './model.ts'
import { cancelRun } from './rules.ts'

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
    const changed = await changeRun(call, run_id, 'resolution.fusion-run.cancel', (run) =>
      cancelRun(run, call.nowIso(), call.now()),
    )
    if (isRefusal(changed)) return changed
    call.wake('files')
    return showRun(changed)
  },
})
