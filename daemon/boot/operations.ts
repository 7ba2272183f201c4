// The roles that this process has loaded, and where their operations are found.
import { operationsOf } from '../kernel/builtin.ts'
import type { Addressed, AnyOperation } from '../kernel/operation.ts'
import type { Role, RoleOutline } from '../kernel/role.ts'
import { roles } from '../roles.ts'

const loads = new Map<string, Promise<Role>>()
const addresses = new Map<AnyOperation, Addressed>()

export function loadRole({ name, load }: RoleOutline): Promise<Role> {
  const known = loads.get(name) ?? load().then(entered)
  loads.set(name, known)
  return known
}

function entered(role: Role): Role {
  for (const each of operationsOf(role)) addresses.set(each.operation, each)
  return role
}

/** Also of a role that runs elsewhere: it is loaded with the first question to it. */
export async function addressOf(operation: AnyOperation): Promise<Addressed> {
  for (const outline of roles) {
    if (addresses.has(operation)) break
    await loadRole(outline)
  }
  const found = addresses.get(operation)
  if (!found) throw new TypeError(`no role declares ${operation.method} ${operation.path}`)
  return found
}

/** The operation that takes messages of this kind, wherever its role runs; undefined when no role does. */
export async function takerOf(kind: string): Promise<AnyOperation | undefined> {
  const taker = roles.find(({ takes }) => takes.some((each) => each === kind))
  if (!taker) return undefined
  return new Map<string, AnyOperation>(Object.entries((await loadRole(taker)).messages)).get(kind)
}

/** One of those that every role has. */
export async function builtInOf(role: string, verb: string): Promise<AnyOperation> {
  const outline = roles.find(({ name }) => name === role)
  if (outline) await loadRole(outline)
  const found = [...addresses.values()].find(({ address }) => address === `${role}.service.${verb}`)
  if (!found) throw new TypeError(`there is no operation ${verb} of a role ${role}`)
  return found.operation
}
