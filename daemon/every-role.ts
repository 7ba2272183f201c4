// Every role with all that it does, for tests; a process of the product loads the roles that it needs, and not this.

import type { AddressedOperation } from './kernel/operation/operation.ts'
import { operationsOf } from './kernel/role/built-in-operations.ts'
import type { Role } from './kernel/role/role.ts'
import { roles } from './roles.ts'

export const everyRole: readonly Role[] = await Promise.all(roles.map(({ load }) => load()))

export const everyOperation: readonly AddressedOperation[] = everyRole.flatMap(operationsOf)
