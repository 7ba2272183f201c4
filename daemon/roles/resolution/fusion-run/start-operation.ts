// Declares an operation that starts a run; the operations differ in the goal of the run.
import { type FieldError, isRefusal, refuse } from '../../../kernel/error/errors.ts'
import { matchingOperation } from '../matching.ts'
import { runView, type StoredRun, showRun } from './model.ts'
import { inlineRecordLimits } from './node-data.ts'
import { openRun, runInput } from './open-run.ts'
import { isOfTwoSites, startExchangeRun } from './start-exchange.ts'

const phases_fault: FieldError = {
  path: 'privacy',
  message: 'must be none, without an exchange: two sites resolve in one run, so start one (POST /api/v2/fusion/run)',
}

/** Declares the operation. `goal`: the state at which the run stops. */
export function startOperation(
  declaration: { readonly summary: string; readonly path: string; readonly tool: string },
  goal: StoredRun['goal'],
) {
  return matchingOperation({
    ...declaration,
    method: 'POST',
    input: runInput,
    output: runView,
    status: 202,
    errors: [
      'not_found',
      'label_denied',
      'idempotency_mismatch',
      'conflict',
      'rate_limited',
      ...(goal === 'completed' ? (['over_budget', 'not_your_tenant'] as const) : []),
    ],
    allow: 'resolution:write',
    creates: true,
    versioned: true,
    ...inlineRecordLimits,

    async run(call, input) {
      if (isOfTwoSites(input) && goal !== 'completed')
        return refuse('invalid', 'the run cannot be started', [phases_fault])
      const opened = isOfTwoSites(input) ? await startExchangeRun(call, input) : await openRun(call, goal, input)
      return isRefusal(opened) ? opened : showRun(opened)
    },
  })
}
