// Holds the path of every request: admitted by permission, parsed strictly, performed, refused in words.

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
import { type AnyOperation, operation, RawResponse } from './operation.ts'
import { createServiceCall, emptyRequest, performOperation } from './perform-operation.ts'
import type { OperationRequest, RoleContext } from './role-context.ts'

const uncounted: Metrics = { count: () => {}, set: () => {}, observe: () => {}, text: async () => '' }

function world() {
  const { context, controls } = echoRole(uncounted)
  const recorded: AuditEvent[] = []
  const record = async (events: readonly AuditEvent[]) => void recorded.push(...events)
  return { shop: { ...context, record } satisfies RoleContext, recorded, logged: controls.logged }
}

const declareOperation = (given: Partial<AnyOperation>): AnyOperation =>
  operation({
    summary: 'For tests',
    method: 'POST',
    path: '/thing/{id}',
    input: z.strictObject({ id: z.string(), count: z.int().default(1), tags: z.array(z.string()).optional() }),
    output: z.unknown(),
    errors: [],
    allow: 'thing:write',
    run: async (_call: Call, input: Record<string, unknown>) => input,
    ...given,
  })

const alice: Caller = { subject: 'alice', tenant_id: 't', roles: [], permissions: new Set(), clearance: undefined }

const requestWith = (given: Partial<OperationRequest> = {}): OperationRequest => ({
  ...emptyRequest,
  params: { id: 'a' },
  trace: sampleTrace,
  signal: new AbortController().signal,
  ...given,
})

const performWith = (
  given: Partial<AnyOperation>,
  request: Partial<OperationRequest> = {},
  shop = world().shop,
  caller = alice,
) =>
  performOperation(
    shop,
    { address: 'test.thing.do', role: 'test', operation: declareOperation(given) },
    caller,
    requestWith(request),
  )

const codeOf = (result: unknown) => (isRefusal(result) ? result.code : 'done')

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
    ['public', undefined, 'done'],
    ['public', 'nonsense', 'done'],
  ] as const)('of an operation that allows %s, to %s: %s', async (allow, bearer, code) => {
    expect(codeOf(await admitCaller(world().shop, declareOperation({ allow }), bearer))).toBe(code)
  })

  test('a stranger at a public operation is nobody, of no tenant, with no permission', async () => {
    const caller = (await admitCaller(world().shop, declareOperation({ allow: 'public' }), undefined)) as Caller
    expect(caller).toMatchObject({ subject: 'anonymous', tenant_id: '', clearance: undefined })
    expect(caller.permissions.size).toBe(0)
  })

  test('a provider that cannot judge is not taken for one that says yes', async () => {
    const { shop } = world()
    const verify = () => Promise.reject(refuse('unavailable', 'no provider'))
    await expect(
      admitCaller({ ...shop, identity: { name: 'oidc', verify } }, declareOperation({}), 'alice.admin'),
    ).rejects.toThrow('no provider')
  })
})

describe('input', () => {
  test('is one flat object from path and body, with defaults', async () => {
    expect(await performWith({}, { body: { tags: ['x'] } })).toEqual({
      status: 200,
      body: { id: 'a', count: 1, tags: ['x'] },
    })
    expect(await performWith({}, {})).toMatchObject({ body: { id: 'a', count: 1 } })
  })

  test('is one flat object from path and query, each text read as the type that is asked for', async () => {
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

  test('that is refused names each field, and never runs', async () => {
    let runs = 0
    const run = async () => runs++
    const result = (await performWith({ run }, { body: { count: 'x', tags: [1] } })) as Refusal
    expect(result.errors.map(({ path }) => path)).toEqual(['count', 'tags.0'])
    expect(runs).toBe(0)
  })
})

describe('the answer', () => {
  test('has the status declared, and the version where there is one', async () => {
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

  test('of a refusal is the same, returned or thrown', async () => {
    const refused = refuse('conflict', 'no')
    expect(await performWith({ run: async () => refused })).toBe(refused)
    expect(await performWith({ run: () => Promise.reject(refused) })).toBe(refused)
  })

  test('of an accident says nothing of it; the log has the cause and the trace', async () => {
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
          error: expect.stringContaining('disk /dev/sda'),
        },
      ],
    ])
  })
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

  test('stay refusals when the record cannot be kept', async () => {
    const { shop, logged } = world()
    const full = { ...shop, record: () => Promise.reject(new Error('disk full')) }
    expect(codeOf(await performWith({ run: async () => refuse('forbidden', 'no') }, {}, full))).toBe('forbidden')
    expect(logged.map(([level, event]) => [level, event])).toEqual([['error', 'test.thing.do.audit-failed']])
  })
})

describe('a call', () => {
  const callOf = async (request: Partial<OperationRequest>, caller = alice, shop = world().shop): Promise<Call> => {
    let seen: Call | undefined
    const run = async (call: Call) => {
      seen = call
    }
    await performWith({ run }, request, shop, caller)
    return seen as Call
  }

  test('makes new ids, and under an idempotency key the same id for the same caller alone', async () => {
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

  test('knows one request from another by its whole input', async () => {
    const digest = async (body: unknown) => (await callOf({ body })).requestDigest()
    expect(await digest({ count: 1, tags: ['a'] })).toBe(await digest({ tags: ['a'], count: 1 }))
    expect(await digest({ count: 2 })).not.toBe(await digest({ count: 1 }))
    expect(await digest({})).toBe(await digest({ count: 1 }))
  })

  test('fills audit events with who, when and where, the actor too', async () => {
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

  test('of a worker is the service’s own, for every tenant', () => {
    const call = createServiceCall(world().shop, 'test', 'test.sweep', sampleTrace, new AbortController().signal)
    expect(call).toMatchObject({
      address: 'test.sweep',
      trace: sampleTrace,
      caller: { subject: 'role:test', tenant_id: '*' },
    })
    expect(call.caller).toEqual(serviceCaller('test'))
  })
})
