// Finds an operation by its address, those that every role serves included.
import { builtInOperations } from '../../daemon/kernel/builtin.ts'
import type { Addressed } from '../../daemon/kernel/operation.ts'
import { addressed, type Role } from '../../daemon/kernel/role.ts'
import { roles } from '../../daemon/roles.ts'

/** Every operation of a role, built-in ones as `<role>.service.<verb>`. */
export function operationsOf(role: Role): Addressed[] {
  const builtIn = Object.entries(builtInOperations(role)).map(([verb, operation]) => ({
    address: `${role.name}.service.${verb}`,
    role: role.name,
    operation,
  }))
  return [...addressed(role), ...builtIn]
}

/** Throws for an address that no role has: a mistake in the command, not in what was typed. */
export async function operationAt(address: string): Promise<Addressed> {
  const found = roles.flatMap(operationsOf).find((known) => known.address === address)
  if (!found) throw new TypeError(`no role has the operation ${address}`)
  return found
}
