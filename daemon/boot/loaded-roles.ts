// The roles that this process has loaded, and where their operations are found.

import type { AddressedOperation } from '../kernel/operation/operation.ts'
import { operationsOf } from '../kernel/role/built-in-operations.ts'
import type { Role, RoleOutline } from '../kernel/role/role.ts'
import { roles } from '../roles.ts'

type LoadedRole = { readonly role: Role; readonly operations: ReadonlyMap<string, AddressedOperation> }

const rolesByName = new Map<string, Promise<LoadedRole>>()

export async function loadRole(outline: RoleOutline): Promise<Role> {
  return (await loadWithOperations(outline)).role
}

function loadWithOperations({ name, load }: RoleOutline): Promise<LoadedRole> {
  const loading = rolesByName.get(name) ?? load().then(indexOperations)
  rolesByName.set(name, loading)
  return loading
}

function indexOperations(role: Role): LoadedRole {
  return { role, operations: new Map(operationsOf(role).map((each) => [each.address, each])) }
}

/** The operation at `role.noun.verb`. A role that runs in another process is loaded with the first request to it. */
export async function findOperation(address: string): Promise<AddressedOperation> {
  const outline = roles.find(({ name }) => address.startsWith(`${name}.`))
  const found = outline && (await loadWithOperations(outline)).operations.get(address)
  if (!found) throw new TypeError(`no role declares the operation ${address}`)
  return found
}

/** The role that takes messages of this kind; undefined when none does. */
export function findMessageRole(kind: string): RoleOutline | undefined {
  return roles.find(({ takes }) => Object.hasOwn(takes, kind))
}

/** The operation by which the role takes messages of this kind, wherever it runs. */
export async function findMessageOperation(
  outline: RoleOutline,
  kind: string,
): Promise<AddressedOperation | undefined> {
  const { role, operations } = await loadWithOperations(outline)
  const operation = new Map(Object.entries(role.messages)).get(kind)
  return [...operations.values()].find((each) => each.operation === operation)
}
