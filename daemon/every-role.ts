// Every role with all that it does, for commands and tests; a daemon loads those that it starts, and not this.
import { operationsOf } from './kernel/builtin.ts'
import type { Addressed } from './kernel/operation.ts'
import type { Role } from './kernel/role.ts'
import { roles } from './roles.ts'

export const everyRole: readonly Role[] = await Promise.all(roles.map(({ load }) => load()))

export const everyOperation: readonly Addressed[] = everyRole.flatMap(operationsOf)
