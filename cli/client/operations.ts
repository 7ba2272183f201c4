// Finds an operation by its address, those that every role serves included.
import { everyOperation } from '../../daemon/every-role.ts'
import type { Addressed } from '../../daemon/kernel/operation.ts'

/** Throws for an address that no role has: a mistake in the command, not in what was typed. */
export function operationAt(address: string): Addressed {
  const found = everyOperation.find((known) => known.address === address)
  if (!found) throw new TypeError(`no role has the operation ${address}`)
  return found
}
