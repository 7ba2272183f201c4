// Holds each operation to the refusals it declares: every one of them can be brought about, and is brought about here.
import { afterAll, beforeAll, expect, test } from 'vitest'
import { everyOperation } from '../daemon/every-role.ts'
import { type ErrorCode, errorTable } from '../daemon/kernel/error/errors.ts'
import { type AddressedOperation, pathParameters } from '../daemon/kernel/operation/operation.ts'
import { expectProblem, kernelCodes } from './support/every-operation/expect-problem.ts'
import { createOperationFixture, type OperationFixture } from './support/every-operation/operation-fixture.ts'
import { refusals } from './support/every-operation/refusals.ts'

const operations = everyOperation

let world: OperationFixture
beforeAll(async () => {
  // So that one message sent again is all that a minute allows.
  world = await createOperationFixture({ filedrop: { resend_per_min: 1 } })
})
afterAll(() => world?.site.close())

/** Errors that test/every-operation.test.ts causes by the same request for every operation. */
function isCoveredByWalk({ address, operation }: AddressedOperation, code: ErrorCode): boolean {
  const ofAnObject = pathParameters(operation.path).length > 0
  if (code === 'not_found') return ofAnObject
  if (code === 'not_your_tenant')
    return (ofAnObject && operation.method !== 'GET') || /federation\.(contribute|result)$/.test(address)
  if (code === 'precondition_failed') return ofAnObject
  return code === 'idempotency_mismatch' && Boolean(operation.creates)
}

/** A scenario counts also where the walk causes the error: for other operations of its kind. */
const declared = operations.flatMap((target) =>
  target.operation.errors
    .map((code) => [`${target.address} ${code}`, target, code] as const)
    .filter(([name, , code]) => !kernelCodes.includes(code) && (name in refusals || !isCoveredByWalk(target, code))),
)

test('nothing is brought about that is not declared', () => {
  const names: string[] = declared.map(([name]) => name)
  expect(Object.keys(refusals).filter((name) => !names.includes(name))).toEqual([])
})

test.each(declared)('%s', async (name, { operation }, code) => {
  const refusal = refusals[name]
  if (!refusal) {
    const remedy = 'add it to a *-refusals.ts file of test/support/every-operation'
    throw new Error(`no scenario causes "${name}": ${remedy}, or remove ${code} from the errors of the operation`)
  }
  const answer = await refusal(world)
  expect(expectProblem(answer, [errorTable[code].status], operation).code).toBe(code)
})
