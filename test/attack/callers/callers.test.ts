// Every operation as each caller who may not call it: refused before a byte of the body is read, nothing stored, and no
// answer shows whether a hidden object exists.

import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { builtInRoles, permissionsOfRoles, permits } from '../../../daemon/kernel/identity/identity.ts'
import { type AddressedOperation, hasBody, pathParameters } from '../../../daemon/kernel/operation/operation.ts'
import { expectProblem } from '../../support/every-operation/expect-problem.ts'
import { type OperationFixture, topSecretClearance } from '../../support/every-operation/operation-fixture.ts'
import type { OperationSample } from '../../support/every-operation/operation-samples.ts'
import { readStoredState } from '../../support/every-operation/read-stored-state.ts'
import { routedOperations } from '../../support/every-operation/routed-operations.ts'
import { createSampledFixture } from '../../support/every-operation/sampled-fixture.ts'
import { sendOperation } from '../../support/every-operation/send-operation.ts'
import type { ExactResponse } from '../../support/http/send-exact-request.ts'

let world: OperationFixture
let inputs: ReadonlyMap<string, OperationSample>
let before: string[]
beforeAll(async () => {
  const addresses = routedOperations.map(({ address }) => address)
  ;({ world, inputs, before } = await createSampledFixture([], addresses))
})
afterAll(() => world?.site.close())

const guarded = routedOperations.filter(({ operation }) => operation.allow !== 'public')
const named = (targets: readonly AddressedOperation[]) => targets.map((target) => [target.address, target] as const)
const inputOf = ({ address }: AddressedOperation) => inputs.get(address)?.input ?? {}

describe.each(Object.keys(builtInRoles))('with the role %s alone', (role) => {
  const permissions = permissionsOfRoles([role], builtInRoles)
  const refused = guarded.filter(
    ({ operation }) => operation.allow === 'role' || !permits(permissions, operation.allow),
  )

  test('every operation of another role’s is refused', async () => {
    const token = await world.site.token({ sub: 'mallory', roles: [role], ...topSecretClearance })
    for (const target of refused) {
      const answer = await sendOperation(world, target, inputOf(target), { token })
      expect(expectProblem(answer, [403], target.operation).code, target.address).toBe('forbidden')
    }
  })
})

describe('before a byte of the body', () => {
  const writes = named(guarded.filter(({ operation }) => hasBody(operation.method)))

  test.each(writes)('%s refuses nobody', async (_, target) => {
    const answer = await sendOperation(world, target, inputOf(target), { announced_bytes: 1_000 })
    expect(expectProblem(answer, [401]).code).toBe('unauthenticated')
  })

  test.each(writes)('%s refuses a caller without its permission', async (_, target) => {
    const token = await world.site.token({ sub: 'mallory', roles: [] })
    const answer = await sendOperation(world, target, inputOf(target), { token, announced_bytes: 1_000 })
    expect(expectProblem(answer, [403]).code).toBe('forbidden')
  })
})

/** What an answer says, without what differs between any two: its id, and the time. */
function describeAnswer({ status, headers, text }: ExactResponse, id: string) {
  const { date: _date, etag: _etag, traceparent: _trace, ...rest } = headers
  // A position is sealed for its reader, and moves with the clock.
  const words = text
    .replaceAll(id, 'ID')
    .replaceAll(/[0-9a-f]{32}/g, 'TRACE')
    .replaceAll(/"next_since":"[\w-]+"/g, '"next_since":"POSITION"')
  return { status, headers: { ...rest, 'content-length': undefined }, words }
}

/** The last parameter of the path names the object. */
const ofAnObject = guarded.filter(
  ({ address, operation }) => pathParameters(operation.path).length > 0 && !address.startsWith('hub.'),
)

describe('a hidden object is answered as one that is not there:', () => {
  const callers = {
    'by a caller without clearance': () => world.site.token({ sub: 'mallory', roles: ['admin'] }),
    'by an administrator of another tenant': () =>
      world.site.token({ sub: 'mallory', tenant_id: 'bravo', roles: ['admin'], ...topSecretClearance }),
  }

  test.each(named(ofAnObject))('%s', async (_, target) => {
    const input = inputOf(target)
    const sample = inputs.get(target.address)
    if (sample?.isTenants === false) return
    const name = pathParameters(target.operation.path).at(-1) ?? ''
    for (const [caller, mint] of Object.entries(callers)) {
      // Another tenant's change is refused as such: the id alone tells that the object exists.
      if (caller.includes('tenant') && target.operation.method !== 'GET') continue
      const token = await mint()
      const hidden = await sendOperation(world, target, { ...input, ...sample?.uncleared }, { token })
      const absent_id = String(input[name]).replaceAll(/[0-9a-f]/g, '0')
      const absent = await sendOperation(
        world,
        target,
        { ...input, ...sample?.uncleared, [name]: absent_id },
        { token },
      )
      expect(hidden.status, `${caller}: ${hidden.text}`).toBe(404)
      expect(describeAnswer(hidden, String(input[name])), caller).toEqual(describeAnswer(absent, absent_id))
    }
  })
})

describe('a list, a count or an export tells a caller without clearance what it tells another tenant:', () => {
  const reads = guarded.filter(
    ({ address, operation }) =>
      operation.method === 'GET' &&
      pathParameters(operation.path).length === 0 &&
      /^(consensus|resolution|intelligence)\./.test(address) &&
      // Sources and contributors are settings of a tenant, and no objects.
      !/\.(service|signal-source|contributor)\./.test(address),
  )

  test.each(named(reads))('%s', async (_, target) => {
    const uncleared = await world.site.token({ sub: 'mallory', roles: ['admin'] })
    const foreign = await world.site.token({
      sub: 'mallory',
      tenant_id: 'bravo',
      roles: ['admin'],
      ...topSecretClearance,
    })
    const [mine, theirs] = [
      await sendOperation(world, target, inputOf(target), { token: uncleared }),
      await sendOperation(world, target, inputOf(target), { token: foreign }),
    ]
    expect(describeAnswer(mine, 'ID')).toEqual(describeAnswer(theirs, 'ID'))
  })
})

test('all of this left everything as it was', async () => {
  expect(await readStoredState(world)).toEqual(before)
})
