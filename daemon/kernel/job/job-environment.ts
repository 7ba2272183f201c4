// What a process supplies to the runner of jobs.
import type { RoleContext } from '../operation/role-context.ts'
import type { Leases } from './lease.ts'

export type JobEnvironment = {
  /** Name of the role. */
  readonly role: string
  readonly leases: Leases
  readonly context: RoleContext
}
