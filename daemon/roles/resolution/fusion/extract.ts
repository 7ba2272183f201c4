// The first phase alone: reads the records of a run by its lens, and waits for what comes next.
import { isRefusal } from '../../../kernel/error/errors.ts'
import { runView, showRun } from '../fusion-run/model.ts'
import { max_body_bytes, openRun, runInput } from '../fusion-run/open-run.ts'
import { matchingOperation } from '../matching.ts'

export const extract = matchingOperation({
  summary: 'Begin a run with its first phase alone: read the records by the lens',
  method: 'POST',
  path: '/api/v2/fusion/extract',
  tool: 'fusion_extract',
  input: runInput,
  output: runView,
  status: 202,
  errors: ['not_found', 'label_denied', 'idempotency_mismatch', 'conflict', 'rate_limited'],
  allow: 'resolution:write',
  creates: true,
  versioned: true,
  max_body_bytes,

  async run(call, input) {
    const made = await openRun(call, 'extracted', input)
    return isRefusal(made) ? made : showRun(made)
  },
})
