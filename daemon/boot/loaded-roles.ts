// The roles that this process has loaded, and their operations.

import type { AddressedOperation, AnyOperation } from '../kernel/operation/operation.ts'
import { operationsOf } from '../kernel/role/built-in-operations.ts'
import type { Role, RoleOutline } from '../kernel/role/role.ts'
import { roles } from '../roles.ts'

const rolesByName = new Map<string, Promise<Role>>()
const addressedOperations = new Map<AnyOperation, AddressedOperation>()

export function loadRole({ name, load }: RoleOutline): Promise<Role> {
  const loading = rolesByName.get(name) ?? load().then(registerOperations)
  rolesByName.set(name, loading)
  return loading
}

function registerOperations(role: Role): Role {
  for (const addressed of operationsOf(role)) addressedOperations.set(addressed.operation, addressed)
  return role
}

/** Address of an operation, also of a role in another process, which is loaded at the first call. */
export async function findAddressedOperation(operation: AnyOperation): Promise<AddressedOperation> {
  for (const outline of roles) {
    if (addressedOperations.has(operation)) break
    await loadRole(outline)
  }
  const addressed = addressedOperations.get(operation)
  if (!addressed) throw new TypeError(`no role declares ${operation.method} ${operation.path}`)
  return addressed
}

/** The operation that takes messages of this kind, wherever its role runs; undefined if no role does. */
export async function findMessageOperation(kind: string): Promise<AnyOperation | undefined> {
  const outline = roles.find(({ takes }) => takes.some((taken) => taken === kind))
  if (!outline) return undefined
  return new Map<string, AnyOperation>(Object.entries((await loadRole(outline)).messages)).get(kind)
}

/** Finds one of the operations that every role has. */
export async function findBuiltInOperation(role: string, verb: string): Promise<AnyOperation> {
  const outline = roles.find(({ name }) => name === role)
  if (outline) await loadRole(outline)
  const addressed = [...addressedOperations.values()].find(({ address }) => address === `${role}.service.${verb}`)
  if (!addressed) throw new TypeError(`the role ${role} has no operation ${verb}`)
  return addressed.operation
}
