// Operations that match or write: a site that only looks records up refuses them.

import { type Refusal, refuse } from '../../kernel/error/errors.ts'
import type { Call } from '../../kernel/operation/call.ts'
import { type InputSchema, type Operation, type OutputSchema, operation } from '../../kernel/operation/operation.ts'
import type { Worker } from '../../kernel/role/role.ts'
import { settings } from './settings.ts'

export function isLookupOnly(call: Pick<Call, 'settings'>): boolean {
  return call.settings(settings).matching_pattern === 'lookup_only'
}

function refuseIfLookupOnly(call: Call): Refusal | undefined {
  if (!isLookupOnly(call)) return undefined
  return refuse(
    'wrong_state',
    'this site only looks records up, in a snapshot of another site’s registry: matching and decisions are made there',
  )
}

/** As `operation`, where the site matches. */
export function matchingOperation<I extends InputSchema, O extends OutputSchema>(
  given: Operation<I, O>,
): Operation<I, O> {
  const errors = given.errors.includes('wrong_state') ? given.errors : [...given.errors, 'wrong_state' as const]
  return operation({
    ...given,
    errors,
    run: async (call, input) => refuseIfLookupOnly(call) ?? (await given.run(call, input)),
  })
}

/** Work that is only there where the site matches. */
export function matchingWorker(worker: Worker): Worker {
  return { ...worker, run: async (call) => (isLookupOnly(call) ? undefined : await worker.run(call)) }
}
