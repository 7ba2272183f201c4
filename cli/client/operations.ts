// Finds an operation by its address, those that every role serves included, and what a field of its input may be.
import * as z from 'zod'
import { everyOperation } from '../../daemon/every-role.ts'
import type { AddressedOperation } from '../../daemon/kernel/operation/operation.ts'

/** Throws for an address that no role has: a mistake in the command, not in what was typed. */
export function findOperation(address: string): AddressedOperation {
  const found = everyOperation.find((known) => known.address === address)
  if (!found) throw new TypeError(`no role has the operation ${address}`)
  return found
}

/** The words that a field of the input may be. Throws for a field that is not a choice of words: a mistake in the command. */
export function listChoices(address: string, field: string): readonly string[] {
  const given: unknown = findOperation(address).operation.input.shape[field]
  const of = given instanceof z.ZodOptional ? given.unwrap() : given
  if (!(of instanceof z.ZodEnum)) throw new TypeError(`${address} leaves ${field} open`)
  return of.options.map(String)
}
