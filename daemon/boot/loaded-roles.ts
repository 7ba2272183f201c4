// The roles that this process has loaded, and where their operations are found.

import type { AddressedOperation, AnyOperation } from '../kernel/operation/operation.ts'
import { operationsOf } from '../kernel/role/built-in-operations.ts'
import type { Role, RoleOutline } from '../kernel/role/role.ts'
import { roles } from '../roles.ts'

const rolesByName = new Map<string, Promise<Role>>()
const addressedOperations = new Map<AnyOperation, AddressedOperation>()

export function loadRole({ name, load }: RoleOutline): Promise<Role> {
  const known = rolesByName.get(name) ?? load().then(registerOperations)
  rolesByName.set(name, known)
  return known
}

function registerOperations(role: Role): Role {
  for (const each of operationsOf(role)) addressedOperations.set(each.operation, each)
  return role
}

/** Also of a role that runs elsewhere: it is loaded with the first question to it. */
export async function findAddressedOperation(operation: AnyOperation): Promise<AddressedOperation> {
  for (const outline of roles) {
    if (addressedOperations.has(operation)) break
    await loadRole(outline)
  }
  const found = addressedOperations.get(operation)
  if (!found) throw new TypeError(`no role declares ${operation.method} ${operation.path}`)
  return found
}

/** The operation that takes messages of this kind, wherever its role runs; undefined when no role does. */
export async function findMessageOperation(kind: string): Promise<AnyOperation | undefined> {
  const taker = roles.find(({ takes }) => takes.some((each) => each === kind))
  if (!taker) return undefined
  return new Map<string, AnyOperation>(Object.entries((await loadRole(taker)).messages)).get(kind)
}

/** One of those that every role has. */
export async function findBuiltInOperation(role: string, verb: string): Promise<AnyOperation> {
  const outline = roles.find(({ name }) => name === role)
  if (outline) await loadRole(outline)
  const found = [...addressedOperations.values()].find(({ address }) => address === `${role}.service.${verb}`)
  if (!found) throw new TypeError(`there is no operation ${verb} of a role ${role}`)
  return found.operation
}
