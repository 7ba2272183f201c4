// Operations that match or write: a site that only looks records up refuses them.
import type { Call } from '../../kernel/call.ts'
import { type Refused, refuse } from '../../kernel/errors.ts'
import { type Input, type Operation, type Output, operation } from '../../kernel/operation.ts'
import type { Worker } from '../../kernel/role.ts'
import { settings } from './settings.ts'

export function isLookupOnly(call: Pick<Call, 'settings'>): boolean {
  return call.settings(settings).matching_pattern === 'lookup_only'
}

function refusedHere(call: Call): Refused | undefined {
  if (!isLookupOnly(call)) return undefined
  return refuse(
    'wrong_state',
    'this site only looks records up, in a snapshot of another site’s registry: matching and decisions are made there',
  )
}

/** As `operation`, where the site matches. */
export function matchingOperation<I extends Input, O extends Output>(given: Operation<I, O>): Operation<I, O> {
  const errors = given.errors.includes('wrong_state') ? given.errors : [...given.errors, 'wrong_state' as const]
  return operation({
    ...given,
    errors,
    run: async (call, input) => refusedHere(call) ?? (await given.run(call, input)),
  })
}

/** Work that is only there where the site matches. */
export function matchingWorker(worker: Worker): Worker {
  return { ...worker, run: async (call) => (isLookupOnly(call) ? undefined : await worker.run(call)) }
}
