// Returns a run with its progress, as known to the process that executes it.
import * as z from 'zod'
import { operation } from '../../../kernel/operation/operation.ts'
import { uid } from '../fields.ts'
import { runWork } from '../parts.ts'
import { fusionRuns, runView, showRun } from './model.ts'

export const status = operation({
  summary: 'Get a run with its progress',
  method: 'GET',
  path: '/api/v2/fusion/run/{run_id}/status',
  tool: 'fusion_run_status',
  input: z.strictObject({ run_id: uid }),
  output: runView,
  errors: ['not_found'],
  allow: 'resolution:read',
  versioned: true,

  async run(call, { run_id }) {
    const doc = await call.store(fusionRuns).get(run_id)
    return showRun(doc, doc.value.job_due_ts !== undefined ? call.part(runWork).progress(run_id) : undefined)
  },
})
