// Declares an operation that starts a run; the operations differ in the goal of the run.
import { isRefusal } from '../../../kernel/error/errors.ts'
import { matchingOperation } from '../matching.ts'
import { runView, type StoredRun, showRun } from './model.ts'
import { inlineRecordLimits, openRun, runInput } from './open-run.ts'

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
    errors: ['not_found', 'label_denied', 'idempotency_mismatch', 'conflict', 'rate_limited'],
    allow: 'resolution:write',
    creates: true,
    versioned: true,
    ...inlineRecordLimits,

    async run(call, input) {
      const opened = await openRun(call, goal, input)
      return isRefusal(opened) ? opened : showRun(opened)
    },
  })
}
