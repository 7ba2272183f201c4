// Holds each operation to the refusals it declares: every one of them can be brought about, and is brought about here.
import { afterAll, beforeAll, expect, test } from 'vitest'
import { everyOperation } from '../daemon/every-role.ts'
import { type ErrorCode, errorTable } from '../daemon/kernel/errors.ts'
import { type Addressed, pathParameters } from '../daemon/kernel/operation.ts'
import { kernelCodes, problemIn } from './support/every-operation/problem-rules.ts'
import { refusals } from './support/every-operation/refusals.ts'
import { type Stage, stage } from './support/every-operation/stage.ts'

const operations = everyOperation

let world: Stage
beforeAll(async () => {
  // So that one message sent again is all that a minute allows.
  world = await stage({ filedrop: { resend_per_min: 1 } })
})
afterAll(() => world?.site.close())

/** What test/every-operation.test.ts brings about by the same request for every operation. */
function isShownByTheWalk({ address, operation }: Addressed, code: ErrorCode): boolean {
  const ofAnObject = pathParameters(operation.path).length > 0
  if (code === 'not_found') return ofAnObject
  if (code === 'not_your_tenant')
    return (ofAnObject && operation.method !== 'GET') || /federation\.(contribute|result)$/.test(address)
  if (code === 'precondition_failed') return ofAnObject
  return code === 'idempotency_mismatch' && Boolean(operation.creates)
}

const declared = operations.flatMap((target) =>
  target.operation.errors
    .filter((code) => !kernelCodes.includes(code) && !isShownByTheWalk(target, code))
    .map((code) => [`${target.address} ${code}`, target, code] as const),
)

test('nothing is brought about that is not declared', () => {
  const names: string[] = declared.map(([name]) => name)
  expect(Object.keys(refusals).filter((name) => !names.includes(name))).toEqual([])
})

test.each(declared)('%s', async (name, { operation }, code) => {
  const refusal = refusals[name]
  if (!refusal) throw new Error('test/support/every-operation/refusals.ts must bring it about, or it is not declared')
  const answer = await refusal(world)
  expect(problemIn(answer, [errorTable[code].status], operation).code).toBe(code)
})
