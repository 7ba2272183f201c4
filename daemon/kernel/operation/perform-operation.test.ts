// A request is admitted by permission, parsed strictly, performed, and refused with a plain message.

import { describe, expect, test } from 'vitest'
import * as z from 'zod'
import { echoRole } from '../../../test/support/echo/echo-role.ts'
import { sampleTrace } from '../../../test/support/trace/sample-trace.ts'
import type { AuditEvent } from '../audit/audit-chain.ts'
import { isRefusal, type Refusal, refuse } from '../error/errors.ts'
import { admitCaller, serviceCaller } from '../identity/admit-caller.ts'
import type { Caller } from '../identity/identity.ts'
import type { Metrics } from '../telemetry/metrics.ts'
import type { Call } from './call.ts'
import { type AnyOperation, operation, RawResponse, type SurfaceName } from './operation.ts'
import { createServiceCall, emptyRequest, performOperation } from './perform-operation.ts'
import type { OperationRequest, RoleContext } from './role-context.ts'

const uncounted: Metrics = { count: () => {}, set: () => {}, observe: () => {}, text: async () => '' }

function world() {
  const { context, controls } = echoRole(uncounted)
  const recorded: AuditEvent[] = []
  const record = async (events: readonly AuditEvent[]) => void recorded.push(...events)
  return { shop: { ...context, record } satisfies RoleContext, recorded, logged: controls.logged }
}

const declareOperation = (fields: Partial<AnyOperation>): AnyOperation =>
  operation({
    summary: 'For tests',
    method: 'POST',
    path: '/thing/{id}',
    input: z.strictObject({ id: z.string(), count: z.int().default(1), tags: z.array(z.string()).optional() }),
    output: z.unknown(),
    errors: [],
    allow: 'thing:write',
    run: async (_call: Call, input: Record<string, unknown>) => input,
    ...fields,
  })

const alice: Caller = { subject: 'alice', tenant_id: 't', roles: [], permissions: new Set(), clearance: undefined }

const requestWith = (fields: Partial<OperationRequest> = {}): OperationRequest => ({
  ...emptyRequest,
  params: { id: 'a' },
  trace: sampleTrace,
  signal: new AbortController().signal,
  ...fields,
})

const performWith = (
  fields: Partial<AnyOperation>,
  request: Partial<OperationRequest> = {},
  shop = world().shop,
  caller = alice,
) =>
  performOperation(
    shop,
    { address: 'test.thing.do', role: 'test', operation: declareOperation(fields) },
    caller,
    requestWith(request),
  )

const admitWith = (shop: RoleContext, { allow = 'thing:write' }: Partial<AnyOperation>, bearer: string | undefined) =>
  admitCaller(shop, { address: 'test.thing.do', operation: { allow } }, { bearer, isLocal: false })

const codeOf = (result: unknown) => (isRefusal(result) ? result.code : 'done')

test.each<[string, Partial<AnyOperation>, number]>([
  ['with many values', { max_body_values: 30_000 }, 2],
  ['of several MiB', { max_body_bytes: 4_194_304 }, 2],
  ['of ordinary size', { max_body_bytes: 65_536 }, 0],
])('other work continues between the stages of a body %s, and only there', async (_size, fields, expected) => {
  const { shop } = world()
  let pauses = 0
  const environment = Object.create(shop.environment, { pause: { value: async () => void pauses++ } })
  expect(await performWith(fields, {}, { ...shop, environment })).toMatchObject({ status: 200 })
  expect(pauses).toBe(expected)
})

const toolAlone = { path: undefined, tool: 'thing_do' } as object
test.each<[string, Partial<AnyOperation>, SurfaceName | undefined, string]>([
  ['a path', {}, undefined, 'done'],
  ['a path', {}, 'agentspace', 'done'],
  ['a path', {}, 'admin_chat', 'not_found'],
  ['a tool alone', toolAlone, undefined, 'not_found'],
  ['a tool alone', toolAlone, 'agentspace', 'done'],
  ['a path and a private tool', { tool: 'thing_do', surface: 'admin_chat' }, undefined, 'done'],
  ['a path and a private tool', { tool: 'thing_do', surface: 'admin_chat' }, 'agentspace', 'not_found'],
  ['a path and a private tool', { tool: 'thing_do', surface: 'admin_chat' }, 'admin_chat', 'done'],
])('an operation with %s (%o), through %s: %s', async (_reach, fields, surface, expected) => {
  const through = surface && { through: { surface, fields: { id: 'a' } } }
  const request = through ? { params: {}, ...through } : {}
  expect(codeOf(await performWith(fields, request))).toBe(expected)
})

test.each<[what: string, fields: object, fault: string]>([
  ['that nothing can reach', { path: undefined, surface: 'admin_chat' }, 'needs a path, a tool, or agentspace'],
  ['with further paths alone', { path: undefined, also: ['/b'], tool: 'b' }, 'has also, but no path'],
  ['with a surface that offers nothing', { surface: 'admin_chat' }, 'has a surface, but no tool'],
  ['with a time limit of nothing', { time_limit_ms: 0 }, '"For tests" has the time limit 0 ms'],
  ['with a time limit that is not a time', { time_limit_ms: Number.NaN }, '"For tests" has the time limit NaN ms'],
  [
    'that may take longer than ten minutes',
    { time_limit_ms: 600_001 },
    '"For tests" has the time limit 600001 ms; it must be from 1 to 600000 ms: longer work is a job',
  ],
  [
    'without a caller whose share it could hold',
    { time_limit_ms: 30_001, allow: 'public' },
    '"For tests" is public, and has the time limit 30001 ms; it must be at most 30000 ms',
  ],
  ['of a stream with a time limit', { time_limit_ms: 1_000, streams: true }, '"For tests" is an event stream'],
  ['with an empty tool', { path: undefined, tool: '' }, '"" cannot be the name of a tool'],
  ['with a tool that models cannot name', { tool: 'Thing.do' }, '"Thing.do" cannot be the name of a tool'],
  ['that streams events by a tool', { tool: 'b', streams: true }, 'is an event stream, which no tool can return'],
  [
    'whose form no path takes',
    { path: undefined, tool: 'b', consumes: 'x', signed: true },
    'has consumes,signed, but no',
  ],
  ['that no listener serves inside', { path: undefined, tool: 'b', inside: true }, 'has inside, but no path'],
])('an operation %s is not declared', (_, fields, fault) => {
  expect(() => declareOperation(fields as object)).toThrow(fault)
})

describe('admission', () => {
  test.each([
    ['thing:write', undefined, 'unauthenticated'],
    ['thing:write', 'nonsense', 'unauthenticated'],
    ['thing:write', 'alice.analyst', 'forbidden'],
    ['thing:write', 'alice.unheard_of', 'forbidden'],
    ['thing:write', 'alice.admin', 'done'],
    ['echo:write', 'alice.echoer', 'done'],
    ['echo:read', 'alice.echoer', 'forbidden'],
    ['consensus:anything', 'alice.operator', 'done'],
    ['authenticated', undefined, 'unauthenticated'],
    ['authenticated', 'alice.unheard_of', 'done'],
    ['role', 'alice.admin', 'forbidden'],
    ['public', undefined, 'done'],
    ['public', 'nonsense', 'done'],
  ] as const)('of an operation that allows %s, to %s: %s', async (allow, bearer, code) => {
    expect(codeOf(await admitWith(world().shop, { allow }, bearer))).toBe(code)
  })

  test('a caller without token at a public operation has no tenant and no permission', async () => {
    const caller = (await admitWith(world().shop, { allow: 'public' }, undefined)) as Caller
    expect(caller).toMatchObject({ subject: 'anonymous', tenant_id: '', clearance: undefined })
    expect(caller.permissions.size).toBe(0)
  })

  test('an unavailable identity provider admits nobody', async () => {
    const { shop } = world()
    const verify = () => Promise.reject(refuse('unavailable', 'no provider'))
    await expect(admitWith({ ...shop, identity: { name: 'oidc', verify } }, {}, 'alice.admin')).rejects.toThrow(
      'no provider',
    )
  })

  describe('of a role by its own key', () => {
    const claims = { sub: 'role:a', tenant_id: '*', roles: ['service'], jti: 'j', exp: 9_999_999_999 }
    const calls = new Map([['a', new Set(['test.thing.do'])]])
    const admitRole = (
      change: object,
      address = 'test.thing.do',
      isLocal = true,
      allow: AnyOperation['allow'] = 'x:y',
    ) => {
      const identity = { name: 'offline' as const, verify: async () => ({ ...claims, ...change }) }
      const shop = { ...world().shop, identity, role_calls: calls }
      return admitCaller(shop, { address, operation: { allow } }, { bearer: 'token', isLocal })
    }

    test('holds for the operations that it requests, on the local socket', async () => {
      expect(codeOf(await admitRole({}))).toBe('done')
    })

    test('holds for an operation for roles alone that it requests', async () => {
      expect(codeOf(await admitRole({}, 'test.thing.do', true, 'role'))).toBe('done')
      expect(codeOf(await admitRole({ roles: ['admin'] }, 'test.thing.do', true, 'role'))).toBe('forbidden')
    })

    test.each<[string, Parameters<typeof admitRole>]>([
      ['another operation for roles alone', [{}, 'test.thing.undo', true, 'role']],
      ['another operation', [{}, 'test.thing.undo']],
      ['another operation for every service', [{}, 'test.thing.undo', true, 'consensus:read']],
      ['a route for everybody with a token', [{}, 'test.agentspace.message', true, 'authenticated']],
      ['its operation over a network', [{}, 'test.thing.do', false]],
      ['a role that requests nothing', [{ sub: 'role:b' }]],
      ['a role that does not exist', [{ sub: 'role:__proto__' }]],
    ])('does not hold for %s', async (_, given) => {
      expect(codeOf(await admitRole(...given))).toBe('forbidden')
    })

    test('is that of nobody at a public operation over a network', async () => {
      expect(await admitRole({}, 'test.thing.do', false, 'public')).toMatchObject({ subject: 'anonymous' })
    })
  })
})

describe('input', () => {
  test('combines path and body into one flat object, with defaults', async () => {
    expect(await performWith({}, { body: { tags: ['x'] } })).toEqual({
      status: 200,
      body: { id: 'a', count: 1, tags: ['x'] },
    })
    expect(await performWith({}, {})).toMatchObject({ body: { id: 'a', count: 1 } })
  })

  test('combines path and query into one flat object, with text converted to the declared types', async () => {
    expect(await performWith({ method: 'GET' }, { query: { count: '7', tags: 'x,y' } })).toMatchObject({
      body: { id: 'a', count: 7, tags: ['x', 'y'] },
    })
  })

  test.each([
    ['an unknown field', { body: { admin: true } }, 'invalid'],
    ['a wrong type', { body: { count: '1' } }, 'invalid'],
    ['a field of the path in the body', { body: { id: 'b' } }, 'invalid'],
    ['a query where there is a body', { query: { count: '1' } }, 'invalid'],
    ['a list', { body: [] }, 'malformed'],
    ['null', { body: null }, 'malformed'],
    ['a string', { body: 'x' }, 'malformed'],
  ])('with %s is refused', async (_what, request, code) => {
    expect(codeOf(await performWith({}, request))).toBe(code)
  })

  test.each([
    ['an unknown parameter', { query: { admin: 'true' } }],
    ['a wrong type', { query: { count: 'many' } }],
    ['a parameter given twice', { query: { count: ['1', '2'] } }],
    ['a parameter of the path', { query: { id: 'b' } }],
  ])('of GET with %s is invalid', async (_what, request) => {
    expect(codeOf(await performWith({ method: 'GET' }, request))).toBe('invalid')
  })

  test('that is invalid names each field, and the operation does not run', async () => {
    let runs = 0
    const run = async () => runs++
    const result = (await performWith({ run }, { body: { count: 'x', tags: [1] } })) as Refusal
    expect(result.errors.map(({ path }) => path)).toEqual(['count', 'tags.0'])
    expect(runs).toBe(0)
  })
})

describe('the answer', () => {
  test('has the declared status, and the version where the output has one', async () => {
    const run = async () => ({ version: 3 })
    expect(await performWith({ run, status: 201, versioned: true })).toEqual({
      status: 201,
      body: { version: 3 },
      version: 3,
    })
    expect(await performWith({ run })).not.toHaveProperty('version')
    const reply = new RawResponse('text/plain', 'x')
    expect(await performWith({ run: async () => reply, versioned: true })).toEqual({ status: 200, body: reply })
  })

  test('of a refusal is the same whether returned or thrown', async () => {
    const refusal = refuse('conflict', 'no')
    expect(await performWith({ run: async () => refusal })).toBe(refusal)
    expect(await performWith({ run: () => Promise.reject(refusal) })).toBe(refusal)
  })

  test('of an exception hides the cause; the log has cause and trace', async () => {
    const { shop, logged } = world()
    const result = (await performWith({ run: () => Promise.reject(new Error('disk /dev/sda')) }, {}, shop)) as Refusal
    expect(result.code).toBe('internal')
    expect(result.message).not.toContain('/dev')
    expect(logged).toEqual([
      [
        'error',
        'test.thing.do.failed',
        {
          trace_id: sampleTrace.trace_id,
          span_id: sampleTrace.span_id,
          times: 1,
          error: expect.stringContaining('disk /dev/sda'),
        },
      ],
    ])
  })
})

test('an exception is logged once a minute for each cause, and other causes beside it', async () => {
  const { shop, logged } = world()
  const fail = (error: Error) => performWith({ run: () => Promise.reject(error) }, {}, shop)
  for (const text of ['a', 'b\n    at c', 'd']) await fail(new Error(text))
  await fail(new TypeError('e'))
  expect(logged.map(([, , fields]) => fields)).toMatchObject([
    { error: expect.stringContaining('Error: a') },
    { error: expect.stringContaining('TypeError: e') },
  ])
})

describe('refusals', () => {
  test.each([
    ['not_your_tenant', 'POST', 1],
    ['label_denied', 'DELETE', 1],
    ['forbidden', 'GET', 0],
    ['not_found', 'POST', 0],
  ] as const)('%s at %s makes %i audit records', async (code, method, count) => {
    const { shop, recorded } = world()
    await performWith({ method, run: async () => refuse(code, 'no') }, {}, shop)
    expect(recorded).toHaveLength(count)
    if (count === 0) return
    expect(recorded[0]).toMatchObject({
      action: 'test.thing.do',
      outcome: 'refused',
      subject: 'alice',
      tenant_id: 't',
      target: 'a',
      detail: { code },
      trace_id: sampleTrace.trace_id,
    })
  })

  test('name the object that the operation has verified, to auditors of its label', async () => {
    const { shop, recorded } = world()
    const label = { policy: 'P', level: 'LOW', categories: [], originator: 't' }
    const run = async (call: Call) => {
      call.nameTarget({ id: 'msg_1', label, detail: { peer: 'bravo' } })
      call.nameTarget({ id: 'ses_1' })
      return refuse('label_denied', 'no')
    }
    const input = z.strictObject({ envelope: z.string() })
    const request = { params: {}, body: { envelope: 'x' } }
    await performWith({ path: '/thing', input, run }, request, shop)
    expect(recorded).toMatchObject([
      { target: 'ses_1', label, detail: { code: 'label_denied', peer: 'bravo' }, outcome: 'refused' },
    ])
  })

  test('stay refusals when the audit record cannot be stored', async () => {
    const { shop, logged } = world()
    const full = { ...shop, record: () => Promise.reject(new Error('disk full')) }
    expect(codeOf(await performWith({ run: async () => refuse('forbidden', 'no') }, {}, full))).toBe('forbidden')
    expect(logged.map(([level, event]) => [level, event])).toEqual([['error', 'test.thing.do.audit-failed']])
  })
})

describe('a call', () => {
  const callOf = async (request: Partial<OperationRequest>, caller = alice, shop = world().shop): Promise<Call> => {
    let performedCall: Call | undefined
    const run = async (call: Call) => {
      performedCall = call
    }
    await performWith({ run }, request, shop, caller)
    return performedCall as Call
  }

  test('creates new ids, and with an idempotency key the same id for the same caller only', async () => {
    const free = await callOf({})
    expect(free.newId('ses')).toMatch(/^ses_[0-9a-f]{32}$/)
    expect(free.newId('ses')).not.toBe(free.newId('ses'))
    const idOf = async (key: string, caller = alice) => (await callOf({ idempotency_key: key }, caller)).newId('ses')
    expect(await idOf('k')).toMatch(/^ses_[0-9a-f]{32}$/)
    expect(await idOf('k')).toBe(await idOf('k'))
    const others = [
      await idOf('l'),
      await idOf('k', { ...alice, subject: 'bob' }),
      await idOf('k', { ...alice, tenant_id: 'u' }),
    ]
    expect(new Set([await idOf('k'), ...others]).size).toBe(4)
  })

  test('distinguishes requests by their whole input', async () => {
    const digest = async (body: unknown) => (await callOf({ body })).requestDigest()
    expect(await digest({ count: 1, tags: ['a'] })).toBe(await digest({ tags: ['a'], count: 1 }))
    expect(await digest({ count: 2 })).not.toBe(await digest({ count: 1 }))
    expect(await digest({})).toBe(await digest({ count: 1 }))
  })

  test('fills audit events with subject, time and trace, and the actor', async () => {
    const call = await callOf({}, { ...alice, actor: 'robot' })
    expect(call.audited('thing.made', 'a', { n: 1 })).toEqual({
      at: '1970-01-01T00:00:00.000Z',
      action: 'thing.made',
      outcome: 'done',
      tenant_id: 't',
      subject: 'alice',
      actor: 'robot',
      target: 'a',
      trace_id: sampleTrace.trace_id,
      detail: { n: 1 },
    })
  })

  test('of a worker has the service as its caller, for every tenant', () => {
    const call = createServiceCall(world().shop, 'test', 'test.sweep', sampleTrace, new AbortController().signal)
    expect(call).toMatchObject({
      address: 'test.sweep',
      trace: sampleTrace,
      caller: { subject: 'role:test', tenant_id: '*' },
    })
    expect(call.caller).toEqual(serviceCaller('test'))
  })
})
