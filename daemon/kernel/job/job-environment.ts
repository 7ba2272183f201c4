// What a process supplies to the runner of jobs.
import type { Caller } from '../identity/identity.ts'
import type { CurrentPrincipals } from '../identity/stored-principal.ts'
import type { Call } from '../operation/call.ts'
import type { Leases } from './lease.ts'

export type JobEnvironment = {
  /** Name of the role. */
  readonly role: string
  readonly leases: Leases
  readonly principals: CurrentPrincipals
  readonly callFor: (caller: Caller, address: string, signal: AbortSignal) => Call
}
