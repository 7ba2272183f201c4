// Every operation of every role, for the few who must find one by itself.
import { operationsOf } from '../kernel/builtin.ts'
import type { Addressed } from '../kernel/operation.ts'
import { roles } from '../roles.ts'

let all: readonly Addressed[] | undefined

/** The same objects each time: an operation is known by what it is. */
export function allOperations(): readonly Addressed[] {
  all ??= roles.flatMap(operationsOf)
  return all
}
