// Starts a run that extracts, matches and resolves.
import { isRefusal } from '../../../kernel/error/errors.ts'
import { matchingOperation } from '../matching.ts'
import { runView, showRun } from './model.ts'
import { max_body_bytes, openRun, runInput } from './open-run.ts'

export const start = matchingOperation({
  summary: 'Resolve records by a lens: extract, match and resolve; its status tells how far it is',
  method: 'POST',
  path: '/api/v2/fusion/run',
  tool: 'fusion_run_start',
  input: runInput,
  output: runView,
  status: 202,
  errors: ['not_found', 'label_denied', 'idempotency_mismatch', 'conflict', 'rate_limited'],
  allow: 'resolution:write',
  creates: true,
  versioned: true,
  max_body_bytes,

  async run(call, input) {
    const made = await openRun(call, 'completed', input)
    return isRefusal(made) ? made : showRun(made)
  },
})
