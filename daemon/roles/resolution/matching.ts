// Wrappers for operations and workers that match or write: a site with the pattern `lookup_only` does not run them.

import { type Refusal, refuse } from '../../kernel/error/errors.ts'
import type { Call } from '../../kernel/operation/call.ts'
import { type Operation, operation } from '../../kernel/operation/operation.ts'
import type { InputSchema, OutputSchema } from '../../kernel/operation/operation-contract.ts'
import type { Worker } from '../../kernel/role/role.ts'
import { settings } from './settings.ts'

export function isLookupOnly(call: Pick<Call, 'settings'>): boolean {
  return call.settings(settings).matching_pattern === 'lookup_only'
}

function refuseIfLookupOnly(call: Call): Refusal | undefined {
  if (!isLookupOnly(call)) return undefined
  return refuse(
    'wrong_state',
    'resolution.matching_pattern is lookup_only at this site: match and decide at the site that made the snapshot',
  )
}

/** Declares an operation that a `lookup_only` site refuses with `wrong_state`. */
export function matchingOperation<I extends InputSchema, O extends OutputSchema>(
  declaration: Operation<I, O>,
): Operation<I, O> {
  const errors = declaration.errors.includes('wrong_state')
    ? declaration.errors
    : [...declaration.errors, 'wrong_state' as const]
  return operation({
    ...declaration,
    errors,
    run: async (call, input) => refuseIfLookupOnly(call) ?? (await declaration.run(call, input)),
  })
}

/** A worker that does nothing on a `lookup_only` site. */
export function matchingWorker(worker: Worker): Worker {
  return { ...worker, run: async (call) => (isLookupOnly(call) ? undefined : await worker.run(call)) }
}
