// Walks every operation of every role over real HTTP, rightly once and wrongly in every way there is; a new operation is
// covered as soon as test/support/every-operation/samples.ts has one good request for it.
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { everyOperation } from '../daemon/every-role.ts'
import { type Addressed, hasBody, pathParameters } from '../daemon/kernel/operation.ts'
import { problemIn } from './support/every-operation/problem-rules.ts'
import { type Sample, samples } from './support/every-operation/samples.ts'
import { cleared, type Stage, stage } from './support/every-operation/stage.ts'
import { stored } from './support/every-operation/stored.ts'
import { asks, type Change, fieldsOf, isStrict, requiredOf } from './support/every-operation/wording.ts'
import type { Heard } from './support/http-exchange.ts'

const operations = everyOperation
const all = operations.map((target) => [target.address, target] as const)
const permissions = [
  ...new Set(operations.map(({ operation }) => operation.allow).filter((word) => word.includes(':'))),
]
const guarded = all.filter(([, { operation }]) => operation.allow !== 'public')
const reading = all.filter(([, { operation }]) => !hasBody(operation.method))
const sending = all.filter(([, { operation }]) => hasBody(operation.method))
/** Of a signed one nothing is read before its signature counts: test/roles/intelligence/webhook-intake.test.ts. */
const jsonSending = sending.filter(([, { operation }]) => !operation.consumes && !operation.signed)
const roleOf = (kind: 'only' | 'without', permission: string) => `${kind}_${permission.replace(':', '_')}`

let world: Stage
let before: string[]
/** The stage has a peer that was frozen: what was said of it is no answer to a request. */
let loggedBefore = 0
const inputs = new Map<string, Sample>()
beforeAll(async () => {
  const roles = permissions.flatMap((one) => [
    [roleOf('only', one), [one]],
    [roleOf('without', one), permissions.filter((other) => other !== one)],
  ])
  world = await stage({ identity: { roles: Object.fromEntries(roles) } })
  for (const { address } of operations) {
    const made = await samples[address]?.(world)
    if (made) inputs.set(address, made)
  }
  before = await stored(world)
  loggedBefore = world.site.logged.length
})
afterAll(() => world?.site.close())

const sampleOf = ({ address }: Addressed): Sample => inputs.get(address) ?? { input: {} }

/** The good request of an operation with something changed, by the admin unless the change names another token. */
function wrongly(target: Addressed, change: Change, more: Readonly<Record<string, unknown>> = {}) {
  return asks(world, target, { ...sampleOf(target).input, ...more }, { token: world.admin, ...change })
}

function changes({ operation }: Addressed): boolean {
  return operation.method !== 'GET'
}

function isTenants(target: Addressed): boolean {
  return sampleOf(target).isTenants ?? pathParameters(target.operation.path).length > 0
}

describe('the tables of this test', () => {
  test('hold a sample for each operation that needs an input', () => {
    const missing = operations.filter(({ address, operation }) => !samples[address] && requiredOf(operation).length > 0)
    expect(missing.map(({ address }) => address)).toEqual([])
  })

  test('hold no sample of an operation that is gone', () => {
    const known = operations.map(({ address }) => address)
    expect(Object.keys(samples).filter((address) => !known.includes(address))).toEqual([])
  })
})

describe('refused, with nothing stored', () => {
  test.each(guarded)('%s without a token', async (_, target) => {
    for (const path of [target.operation.path, ...(target.operation.also ?? [])]) {
      const answer = await asks(world, target, sampleOf(target).input, {}, path)
      expect(problemIn(answer, [401]).code).toBe('unauthenticated')
      expect(answer.headers['www-authenticate']).toBe('Bearer realm="platform"')
    }
  })

  test.each(guarded)('%s with a garbage token', async (_, target) => {
    for (const token of ['garbage', 'a.b.c', `${world.admin}x`, 'x'.repeat(9_000)]) {
      const answer = await wrongly(target, { token })
      problemIn(answer, [401], target.operation)
      expect(answer.headers['www-authenticate']).toBe('Bearer realm="platform", error="invalid_token"')
    }
    problemIn(await wrongly(target, { token: undefined, headers: { authorization: 'Basic YWRhOng=' } }), [401])
  })

  test.each(guarded)('%s with every permission but its own', async (_, target) => {
    const permission = target.operation.allow
    for (const roles of [[roleOf('without', permission)], ['nobody'], []]) {
      const answer = await wrongly(target, { token: await world.site.token({ roles, ...cleared }) })
      expect(problemIn(answer, [403], target.operation).code).toBe('forbidden')
    }
  })

  test.each(guarded)('%s by another tenant', async (_, target) => {
    const token = await world.site.token({ sub: 'mallory', tenant_id: 'bravo', roles: ['admin'], ...cleared })
    if (isTenants(target)) {
      const [status, code] = changes(target) ? [403, 'not_your_tenant'] : [404, 'not_found']
      const answer = await wrongly(target, { token })
      expect(problemIn(answer, [Number(status)], target.operation).code).toBe(code)
    } else if (!changes(target)) {
      expect(idsIn(await wrongly(target, { token }))).toEqual([])
    }
  })

  test.each(guarded)('%s without the clearance', async (_, target) => {
    const token = await world.site.token({ sub: 'mallory', roles: ['admin'] })
    if (isTenants(target)) {
      const answer = await wrongly(target, { token }, sampleOf(target).uncleared)
      expect(problemIn(answer, [404], target.operation).code).toBe('not_found')
    } else if (!hasBody(target.operation.method)) {
      expect(idsIn(await wrongly(target, { token }))).toEqual([])
    }
  })

  test.each(jsonSending)('%s with a body that cannot be read', async (_, target) => {
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
    for (const body of broken) problemIn(await wrongly(target, { body }), [400], target.operation)
    const deep = `{"a":${'['.repeat(70)}${']'.repeat(70)}}`
    problemIn(await wrongly(target, { body: deep }), [400], target.operation)
    const bytes = { headers: { 'content-type': 'application/json', 'content-length': '2' } }
    problemIn(await wrongly(target, { ...bytes, body: '\u00ff' }), [400, 422], target.operation)
  })

  test.each(sending)('%s with another content type', async (_, target) => {
    for (const type of ['text/plain', 'application/xml', 'application/jsonx', 'multipart/form-data; boundary=x']) {
      const answer = await wrongly(target, { headers: { 'content-type': type } })
      expect(problemIn(answer, [415], target.operation).code).toBe('unsupported_media_type')
    }
    const other = target.operation.consumes ? 'application/json' : 'application/x-www-form-urlencoded'
    problemIn(await wrongly(target, { body: '{}', headers: { 'content-type': other } }), [415], target.operation)
  })

  test.each(sending)('%s with too large a body', async (_, target) => {
    const limit = target.operation.max_body_bytes ?? 1_048_576
    const answer = await wrongly(target, { announced_bytes: limit + 1 })
    expect(problemIn(answer, [413], target.operation).code).toBe('too_large')
  })

  test.each(all)('%s with a parameter or field that it does not know', async (_, target) => {
    const asked = await wrongly(target, { query: { surprise: '1' } })
    expect(problemIn(asked, [422], target.operation).code).toBe('invalid')
    const { method, signed } = target.operation
    if (!hasBody(method) || signed || !isStrict(target.operation)) return
    expect(problemIn(await wrongly(target, {}, { surprise: 1 }), [422], target.operation).code).toBe('invalid')
  })

  test.each(jsonSending)('%s with values of the wrong type', async (_, target) => {
    for (const name of Object.keys(fieldsOf(target.operation))) {
      if (pathParameters(target.operation.path).includes(name)) continue
      const answer = await wrongly(target, {}, { [name]: [[]] })
      const problem = problemIn(answer, [422], target.operation)
      expect(
        problem.errors.some(({ path }) => path.startsWith(name)),
        answer.text,
      ).toBe(true)
      const body = `{${JSON.stringify(name)}:1e999}`
      expect(problemIn(await wrongly(target, { body }), [422], target.operation).errors[0]?.path).toBe(name)
    }
  })

  test.each(sending)('%s without what it requires', async (_, target) => {
    const { operation } = target
    const required = requiredOf(operation).filter((name) => !pathParameters(operation.path).includes(name))
    if (required.length > 0) problemIn(await wrongly(target, { body: '{}' }), [422], operation)
  })

  test.each(reading)('%s with values of the wrong type', async (_, target) => {
    const inPath = pathParameters(target.operation.path)
    for (const [name, { type }] of Object.entries(fieldsOf(target.operation))) {
      const wrong = type === 'integer' ? ['abc', '1e999', 'NaN', '-1', '0.5', ''] : ['x'.repeat(1_100)]
      for (const value of inPath.includes(name) ? ['x'.repeat(400)] : wrong) {
        const answer = await wrongly(target, {}, { [name]: value })
        expect(problemIn(answer, [422], target.operation).errors[0]?.path, answer.text).toBe(name)
      }
    }
  })

  test.each(reading)('%s with a body', async (_, target) => {
    const answer = await wrongly(target, { body: '{}', headers: { 'content-type': 'application/json' } })
    expect(problemIn(answer, [400], target.operation).code).toBe('malformed')
  })

  test.each(all)('%s by a method that the path does not have', async (_, target) => {
    for (const path of [target.operation.path, ...(target.operation.also ?? [])]) {
      const filled = path.replaceAll(/\{[a-z_]+\}/g, 'x')
      for (const method of ['PATCH', 'OPTIONS', 'TRACE', 'QUERY', 'PROPFIND']) {
        const answer = await world.site.ask(target.role, { method, path: filled, token: world.admin })
        expect(problemIn(answer, [405]).code).toBe('method_not_allowed')
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
      expect(problemIn(await wrongly(target, {}, nobodys), [404], target.operation).code).toBe('not_found')
    },
  )

  test.each(all.filter(([, each]) => changes(each) && each.operation.errors.includes('precondition_failed')))(
    '%s based on a version that is not the current one',
    async (_, target) => {
      const headers = {
        ...(hasBody(target.operation.method) ? { 'content-type': 'application/json' } : {}),
        'if-match': '"999"',
      }
      const answer = await wrongly(target, { headers })
      expect(problemIn(answer, [412], target.operation).code).toBe('precondition_failed')
      problemIn(await wrongly(target, { headers: { ...headers, 'if-match': 'W/"1"' } }), [400], target.operation)
    },
  )

  test('left everything as it was', async () => {
    expect(await stored(world)).toEqual(before)
    expect(world.site.logged.slice(loggedBefore).filter((line) => line.includes('"level":"error"'))).toEqual([])
  })
})

describe('done', () => {
  test.each(all.filter(([, { operation }]) => !operation.signed))(
    '%s with its own permission alone answers what it declares',
    async (_, target) => {
      const { operation } = target
      const sample = sampleOf(target)
      const roles = operation.allow === 'public' ? [] : [roleOf('only', operation.allow)]
      const token = roles.length ? await world.site.token({ roles, ...cleared }) : undefined
      const answer = await asks(world, target, sample.input, { token })
      expect(answer.status, answer.text).toBe(operation.status ?? 200)
      if (answer.headers['content-type'] === 'application/json') operation.output.parse(answer.json)
      else expect(operation.produces).toContain(answer.headers['content-type']?.split(';')[0])
      if (operation.versioned) {
        expect(answer.headers.etag).toBe(`"${(answer.json as { version: number }).version}"`)
      }
    },
  )

  test.each(reading.filter(([, { operation }]) => operation.also))('%s at each of its paths', async (_, target) => {
    for (const path of target.operation.also ?? []) {
      const answer = await asks(world, target, sampleOf(target).input, { token: world.admin }, path)
      expect(answer.status).toBe(200)
    }
  })
})

test.each(all.filter(([, { operation }]) => operation.creates))(
  '%s once for each Idempotency-Key',
  async (_, target) => {
    const { keyed } = sampleOf(target)
    if (!keyed) throw new Error('the sample of an operation that creates needs a request to repeat')
    const headers = { 'content-type': 'application/json', 'idempotency-key': `key-of-${target.address}` }
    const ask = (input: Readonly<Record<string, unknown>>) =>
      asks(world, target, input, { token: world.admin, headers })
    const [first, second] = [await ask(keyed.input), await ask(keyed.input)]
    expect([first.status, second.status], first.text).toEqual(Array(2).fill(target.operation.status ?? 200))
    const told = ({ json }: typeof first) => {
      const { id, uid, contributions, history } = json as Record<string, unknown>
      return { id, uid, contributions, history }
    }
    expect(told(second)).toEqual(told(first))
    const third = await ask({ ...keyed.input, ...keyed.another })
    expect(problemIn(third, [422], target.operation).code).toBe('idempotency_mismatch')
  },
)

/** The same subject tried other things before, and its own refused attempts are in the audit for it to see. */
const tried = /"subject":"mallory"/

/** Ids of the stage's objects that a list gives away. */
function idsIn({ json, text }: Heard): string[] {
  const items = (json as { items?: unknown[] } | undefined)?.items?.map((item) => JSON.stringify(item)) ?? [text]
  const { open, conflict, ratified, dissent, evidence, emission, shared, resolution, intelligence } = world
  const own = [...Object.values(resolution), ...Object.values(intelligence)]
  const hidden = [open, conflict, ratified, dissent, evidence, emission, shared, ...own]
  return hidden.filter((id) => items.some((item) => item.includes(id) && !tried.test(item)))
}
