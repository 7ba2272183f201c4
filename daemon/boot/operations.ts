// Every operation of every role, for the few who must find one by itself.
import { operationsOf } from '../kernel/builtin.ts'
import type { Addressed } from '../kernel/operation.ts'
import { roles } from '../roles.ts'

export function allOperations(): Addressed[] {
  return roles.flatMap(operationsOf)
}
