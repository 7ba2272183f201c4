// The role that requests an operation for roles alone: it gets its own data keys, and signatures of its own documents.
import { roleOfCaller } from '../../kernel/identity/admit-caller.ts'
import type { Caller } from '../../kernel/identity/identity.ts'

/** Throws for any other caller, which admission refuses. */
export function requireRole(caller: Caller): string {
  const role = roleOfCaller(caller)
  if (role === undefined) throw new TypeError(`${caller.subject} is not a role of the site`)
  return role
}
