// Walks every operation of every role over real HTTP, rightly once and wrongly in every way there is; a new operation is
// covered as soon as test/support/every-operation/operation-samples.ts has one good request for it.

import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { everyOperation } from '../daemon/every-role.ts'
import { type AddressedOperation, hasBody, listPaths, pathParameters } from '../daemon/kernel/operation/operation.ts'
import { writeCursor } from '../daemon/kernel/store/list-cursor.ts'
import { expectProblem } from './support/every-operation/expect-problem.ts'
import { type OperationFixture, topSecretClearance } from './support/every-operation/operation-fixture.ts'
import { type OperationSample, operationSamples } from './support/every-operation/operation-samples.ts'
import { readStoredState } from './support/every-operation/read-stored-state.ts'
import { routedOperations } from './support/every-operation/routed-operations.ts'
import { createSampledFixture, roleOf } from './support/every-operation/sampled-fixture.ts'
import {
  listInputFields,
  listRequiredFields,
  type RequestChange,
  rejectsUnknownFields,
  sendOperation,
} from './support/every-operation/send-operation.ts'
import type { ExactResponse } from './support/http/send-exact-request.ts'

const operations = routedOperations
const all = operations.map((target) => [target.address, target] as const)
const permissions = [
  ...new Set(operations.map(({ operation }) => operation.allow).filter((word) => word.includes(':'))),
]
const guarded = all.filter(([, { operation }]) => operation.allow !== 'public')
const readOperations = all.filter(([, { operation }]) => !hasBody(operation.method))
const writeOperations = all.filter(([, { operation }]) => hasBody(operation.method))
const pagedLists = readOperations.filter(([, { operation }]) => 'cursor' in listInputFields(operation))
/** Positions as people might write them, content without a seal, and a sealed cursor of another list. */
const foreignCursors = [
  ...['', '0', '1', '1-1', 'a', 'alice', 'before.', 'segments', 'AAAA', 'é', 'x'.repeat(1_024)],
  ...[
    { at: '2026-03-02T12:00:00.000Z', id: 'a' },
    [1, 'a'],
    ['0'.repeat(16), 1, ''],
    ['0'.repeat(16), null, 'a'],
    5,
  ].map((content) => Buffer.from(JSON.stringify(content)).toString('base64url')),
  writeCursor('list_of_nobody', { filter: {}, limit: 50 }, { value: 1, id: 'a' }),
  `before.${writeCursor('former_record', { filter: { status: 599 }, limit: 1 }, { value: null, id: '' })}`,
]
/** Of a signed one nothing is read before its signature counts: test/roles/intelligence/webhook-intake.test.ts. */
const jsonWriteOperations = writeOperations.filter(([, { operation }]) => !operation.consumes && !operation.signed)

let world: OperationFixture
let before: string[]
/** The stage has a frozen peer: log lines about it are not answers to a request. */
let loggedBefore = 0
let inputs: ReadonlyMap<string, OperationSample>
beforeAll(async () => {
  ;({ world, inputs, before } = await createSampledFixture(
    permissions,
    operations.map(({ address }) => address),
  ))
  loggedBefore = world.site.logged.length
})
afterAll(() => world?.site.close())

const sampleOf = ({ address }: AddressedOperation): OperationSample => inputs.get(address) ?? { input: {} }

/** The good request of an operation with something changed, by the admin unless the change names another token. */
function sendChanged(target: AddressedOperation, change: RequestChange, more: Readonly<Record<string, unknown>> = {}) {
  return sendOperation(world, target, { ...sampleOf(target).input, ...more }, { token: tokenOf(target), ...change })
}

/** A caller whom the operation admits: a role where it serves only those, a carrier for messages of peers, otherwise the admin. */
function tokenOf({ operation }: AddressedOperation): string {
  if (operation.allow === 'federation:deliver') return world.carrier
  return operation.allow === 'role' ? world.service : world.admin
}

function changesState({ operation }: AddressedOperation): boolean {
  return operation.method !== 'GET'
}

/** Methods that no operation of the role has at the path, which is also that of operations whose parameters its words could be. */
function missingMethods({ role }: AddressedOperation, path: string): string[] {
  const serves = (other: string) => new RegExp(`^${other.replaceAll(/\{[a-z_]+\}/g, '[^/]+')}$`).test(path)
  const present = operations
    .filter((other) => other.role === role && listPaths(other.operation).some(serves))
    .map(({ operation }) => operation.method)
  return ['PATCH', 'OPTIONS', 'TRACE', 'QUERY', 'PROPFIND'].filter((method) => !present.some((one) => one === method))
}

/** A value that is checked in the background has no wrong type; nor have those of a list of such. */
function takesAnything({ type, items, ...rest }: ReturnType<typeof listInputFields>[string]): boolean {
  const isOpen = !('anyOf' in rest || '$ref' in rest || 'enum' in rest || 'const' in rest || 'oneOf' in rest)
  return (type === undefined && isOpen) || (type === 'array' && JSON.stringify(items) === '{}')
}

function isTenants(target: AddressedOperation): boolean {
  return sampleOf(target).isTenants ?? pathParameters(target.operation.path).length > 0
}

describe('the tables of this test', () => {
  test('hold a sample for each operation that needs an input', () => {
    const missing = operations.filter(
      ({ address, operation }) => !operationSamples[address] && listRequiredFields(operation).length > 0,
    )
    const remedy = 'add one good request for each to test/support/every-operation/operation-samples.ts'
    expect(
      missing.map(({ address }) => address),
      remedy,
    ).toEqual([])
  })

  test('hold no sample of an operation that is gone', () => {
    const known = everyOperation.map(({ address }) => address)
    expect(Object.keys(operationSamples).filter((address) => !known.includes(address))).toEqual([])
  })
})

describe('refused, with nothing stored', () => {
  test.each(guarded)('%s without a token', async (_, target) => {
    for (const path of listPaths(target.operation)) {
      const answer = await sendOperation(world, target, sampleOf(target).input, {}, path)
      expect(expectProblem(answer, [401]).code).toBe('unauthenticated')
      expect(answer.headers['www-authenticate']).toBe('Bearer realm="platform"')
    }
  })

  test.each(guarded)('%s with a garbage token', async (_, target) => {
    for (const token of ['garbage', 'a.b.c', `${world.admin}x`, 'x'.repeat(9_000)]) {
      const answer = await sendChanged(target, { token })
      expectProblem(answer, [401], target.operation)
      expect(answer.headers['www-authenticate']).toBe('Bearer realm="platform", error="invalid_token"')
    }
    expectProblem(await sendChanged(target, { token: undefined, headers: { authorization: 'Basic YWRhOng=' } }), [401])
  })

  test.each(guarded)('%s with every permission but its own', async (_, target) => {
    const permission = target.operation.allow
    for (const roles of [[roleOf('without', permission)], ['nobody'], []]) {
      const answer = await sendChanged(target, { token: await world.site.token({ roles, ...topSecretClearance }) })
      expect(expectProblem(answer, [403], target.operation).code).toBe('forbidden')
    }
  })

  test.each(pagedLists)('%s from a cursor that it has not given', async (_, target) => {
    for (const cursor of foreignCursors) {
      const answer = await sendChanged(target, {}, { cursor })
      expect(expectProblem(answer, [400], target.operation).code, cursor).toBe('malformed')
    }
  })

  test.each(guarded)('%s by another tenant', async (_, target) => {
    const token = await world.site.token({
      sub: 'mallory',
      tenant_id: 'bravo',
      roles: ['admin'],
      ...topSecretClearance,
    })
    if (isTenants(target)) {
      const [status, code] = changesState(target) ? [403, 'not_your_tenant'] : [404, 'not_found']
      const answer = await sendChanged(target, { token })
      expect(expectProblem(answer, [Number(status)], target.operation).code).toBe(code)
    } else if (!changesState(target)) {
      expect(listFixtureIds(await sendChanged(target, { token }))).toEqual([])
    }
  })

  test.each(guarded)('%s without the clearance', async (_, target) => {
    const token = await world.site.token({ sub: 'mallory', roles: ['admin'] })
    if (isTenants(target)) {
      const answer = await sendChanged(target, { token }, sampleOf(target).uncleared)
      expect(expectProblem(answer, [404], target.operation).code).toBe('not_found')
    } else if (!changesState(target)) {
      expect(listFixtureIds(await sendChanged(target, { token }))).toEqual([])
    }
  })

  test.each(jsonWriteOperations)('%s with a body that cannot be read', async (_, target) => {
    const broken = [
      '{',
      '{"a":1}x',
      '[]',
      '"text"',
      'null',
      '{"a":NaN}',
      '{"a":Infinity}',
      '{"__proto__":{}}',
      '\u0000',
    ]
    for (const body of broken) expectProblem(await sendChanged(target, { body }), [400], target.operation)
    const deep = `{"a":${'['.repeat(70)}${']'.repeat(70)}}`
    expectProblem(await sendChanged(target, { body: deep }), [400], target.operation)
    const bytes = { headers: { 'content-type': 'application/json', 'content-length': '2' } }
    expectProblem(await sendChanged(target, { ...bytes, body: '\u00ff' }), [400, 422], target.operation)
  })

  test.each(writeOperations)('%s with another content type', async (_, target) => {
    for (const type of ['text/plain', 'application/xml', 'application/jsonx', 'multipart/form-data; boundary=x']) {
      const answer = await sendChanged(target, { headers: { 'content-type': type } })
      expect(expectProblem(answer, [415], target.operation).code).toBe('unsupported_media_type')
    }
    const other = target.operation.consumes ? 'application/json' : 'application/x-www-form-urlencoded'
    expectProblem(
      await sendChanged(target, { body: '{}', headers: { 'content-type': other } }),
      [415],
      target.operation,
    )
  })

  test.each(writeOperations)('%s with too large a body', async (_, target) => {
    const limit = target.operation.max_body_bytes ?? 1_048_576
    const answer = await sendChanged(target, { announced_bytes: limit + 1 })
    expect(expectProblem(answer, [413], target.operation).code).toBe('too_large')
  })

  test.each(all)('%s with a parameter or field that it does not know', async (_, target) => {
    const response = await sendChanged(target, { query: { surprise: '1' } })
    expect(expectProblem(response, [422], target.operation).code).toBe('invalid')
    const { method, signed } = target.operation
    if (!hasBody(method) || signed || !rejectsUnknownFields(target.operation)) return
    expect(expectProblem(await sendChanged(target, {}, { surprise: 1 }), [422], target.operation).code).toBe('invalid')
  })

  test.each(jsonWriteOperations)('%s with values of the wrong type', async (_, target) => {
    for (const [name, field] of Object.entries(listInputFields(target.operation))) {
      if (pathParameters(target.operation.path).includes(name) || takesAnything(field)) continue
      const answer = await sendChanged(target, {}, { [name]: [[]] })
      const problem = expectProblem(answer, [422], target.operation)
      expect(
        problem.errors.some(({ path }) => path.startsWith(name)),
        answer.text,
      ).toBe(true)
      const body = `{${JSON.stringify(name)}:1e999}`
      expect(expectProblem(await sendChanged(target, { body }), [422], target.operation).errors[0]?.path).toBe(name)
    }
  })

  test.each(writeOperations)('%s without what it requires', async (_, target) => {
    const { operation } = target
    const required = listRequiredFields(operation).filter((name) => !pathParameters(operation.path).includes(name))
    if (required.length > 0) expectProblem(await sendChanged(target, { body: '{}' }), [422], operation)
  })

  test.each(readOperations)('%s with values of the wrong type', async (_, target) => {
    const inPath = pathParameters(target.operation.path)
    for (const [name, { type }] of Object.entries(listInputFields(target.operation))) {
      const wrong = type === 'integer' ? ['abc', '1e999', 'NaN', '-1', '0.5', ''] : ['x'.repeat(1_100)]
      for (const value of inPath.includes(name) ? ['x'.repeat(400)] : wrong) {
        const answer = await sendChanged(target, {}, { [name]: value })
        expect(expectProblem(answer, [422], target.operation).errors[0]?.path, answer.text).toBe(name)
      }
    }
  })

  test.each(readOperations)('%s with a body', async (_, target) => {
    const answer = await sendChanged(target, { body: '{}', headers: { 'content-type': 'application/json' } })
    expect(expectProblem(answer, [400], target.operation).code).toBe('malformed')
  })

  test.each(all)('%s by a method that the path does not have', async (_, target) => {
    for (const path of listPaths(target.operation)) {
      const filled = path.replaceAll(/\{[a-z_]+\}/g, 'x')
      for (const method of missingMethods(target, path)) {
        const answer = await world.site.request(target.role, { method, path: filled, token: world.admin })
        expect(expectProblem(answer, [405]).code).toBe('method_not_allowed')
        expect(answer.headers.allow?.split(', ')).toContain(target.operation.method)
      }
    }
  })

  test.each(all.filter(([, target]) => pathParameters(target.operation.path).length > 0))(
    '%s of an object that is not there',
    async (_, target) => {
      const names = pathParameters(target.operation.path)
      if (!isTenants(target)) return
      const nobodys = Object.fromEntries(names.map((name) => [name, 'nothing-has-this-id']))
      expect(expectProblem(await sendChanged(target, {}, nobodys), [404], target.operation).code).toBe('not_found')
    },
  )

  test.each(all.filter(([, each]) => changesState(each) && each.operation.errors.includes('precondition_failed')))(
    '%s based on a version that is not the current one',
    async (_, target) => {
      const headers = {
        ...(hasBody(target.operation.method) ? { 'content-type': 'application/json' } : {}),
        'if-match': '"999"',
      }
      const answer = await sendChanged(target, { headers })
      expect(expectProblem(answer, [412], target.operation).code).toBe('precondition_failed')
      expectProblem(
        await sendChanged(target, { headers: { ...headers, 'if-match': 'W/"1"' } }),
        [400],
        target.operation,
      )
    },
  )

  test('left everything as it was', async () => {
    expect(await readStoredState(world)).toEqual(before)
    expect(world.site.logged.slice(loggedBefore).filter((line) => line.includes('"level":"error"'))).toEqual([])
  })
})

async function findSufficientToken(allow: string): Promise<string | undefined> {
  if (allow === 'public') return undefined
  if (allow === 'federation:deliver') return world.carrier
  return allow === 'role'
    ? world.service
    : await world.site.token({ roles: [roleOf('only', allow)], ...topSecretClearance })
}

describe('done', () => {
  test.each(all.filter(([, { operation }]) => !operation.signed))(
    '%s with its own permission alone answers what it declares',
    async (_, target) => {
      const { operation } = target
      const sample = sampleOf(target)
      const token = await findSufficientToken(operation.allow)
      const answer = await sendOperation(world, target, sample.input, { token })
      expect(answer.status, answer.text).toBe(operation.status ?? 200)
      if (answer.headers['content-type'] === 'application/json') operation.output.parse(answer.json)
      else expect(operation.produces).toContain(answer.headers['content-type']?.split(';')[0])
      if (operation.versioned) {
        expect(answer.headers.etag).toBe(`"${(answer.json as { version: number }).version}"`)
      }
    },
  )

  test.each(all.filter(([, { operation }]) => operation.method === 'GET' && operation.also))(
    '%s at each of its paths',
    async (_, target) => {
      for (const path of target.operation.also ?? []) {
        const answer = await sendOperation(world, target, sampleOf(target).input, { token: world.admin }, path)
        expect(answer.status).toBe(200)
      }
    },
  )
})

test.each(all.filter(([, { operation }]) => operation.creates))(
  '%s once for each Idempotency-Key',
  async (_, target) => {
    const { keyed } = sampleOf(target)
    if (!keyed) throw new Error('the sample of an operation that creates needs a request to repeat')
    const headers = { 'content-type': 'application/json', 'idempotency-key': `key-of-${target.address}` }
    const ask = (input: Readonly<Record<string, unknown>>) =>
      sendOperation(world, target, input, { token: world.admin, headers })
    const [first, second] = [await ask(keyed.input), await ask(keyed.input)]
    expect([first.status, second.status], first.text).toEqual(Array(2).fill(target.operation.status ?? 200))
    const readError = ({ json }: typeof first) => {
      const { id, uid, contributions, history } = json as Record<string, unknown>
      return { id, uid, contributions, history }
    }
    expect(readError(second)).toEqual(readError(first))
    const third = await ask({ ...keyed.input, ...keyed.another })
    expect(expectProblem(third, [422], target.operation).code).toBe('idempotency_mismatch')
  },
)

/** The same subject tried other things before, and its own refused attempts are in the audit for it to see. */
const malloryPattern = /"subject":"mallory"/

/** Ids of the stage's objects that a list gives away. */
function listFixtureIds({ json, text }: ExactResponse): string[] {
  const items = (json as { items?: unknown[] } | undefined)?.items?.map((item) => JSON.stringify(item)) ?? [text]
  const { open, conflict, ratified, dissent, evidence, emission, shared, resolution, intelligence } = world
  const own = [...Object.values(resolution), ...Object.values(intelligence)]
  const hidden = [open, conflict, ratified, dissent, evidence, emission, shared, ...own]
  return hidden.filter((id) => items.some((item) => item.includes(id) && !malloryPattern.test(item)))
}
