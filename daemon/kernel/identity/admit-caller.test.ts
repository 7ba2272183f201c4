// A role that acts in the name of a principal is admitted to what its code requests, with the permissions of the principal.
import { describe, expect, test } from 'vitest'
import { echoRole } from '../../../test/support/echo/echo-role.ts'
import { isRefusal } from '../error/errors.ts'
import type { RoleContext } from '../operation/role-context.ts'
import { type AdmissionTarget, admitCaller, isOfferedTo, roleOfCaller, serviceCaller } from './admit-caller.ts'
import type { CredentialClaims, Permission } from './identity.ts'

const { context } = echoRole({ count: () => {}, set: () => {}, observe: () => {}, text: async () => '' })
const claims: CredentialClaims = { sub: 'ann', tenant_id: 't', roles: ['admin'], jti: 'j', exp: 2_000_000_000 }

/** The caller of `consensus.thing.do`, or the reason against it. */
async function admit(
  change: Partial<CredentialClaims>,
  allow: Permission | 'authenticated' | 'role' = 'consensus:write',
) {
  const judging: RoleContext = {
    ...context,
    identity: { name: 'offline', verify: async () => ({ ...claims, ...change }) },
    role_calls: new Map([['gateway', new Set(['consensus.thing.do', 'site.key.list'])]]),
  }
  const target = { address: 'consensus.thing.do', operation: { allow } }
  const admitted = await admitCaller(judging, target, { bearer: 'x', isLocal: true })
  return isRefusal(admitted) ? admitted.message : admitted
}

describe('in the name of a principal', () => {
  test('a role has the permissions of the principal for what it requests', async () => {
    expect(await admit({ act: { sub: 'role:gateway' } })).toMatchObject({
      subject: 'ann',
      actor: 'role:gateway',
      is_role_acting: true,
    })
    expect(await admit({ act: { sub: 'role:gateway' } }, 'authenticated')).toMatchObject({ subject: 'ann' })
    expect(await admit({ act: { sub: 'role:gateway' }, roles: ['auditor'] })).toMatch(/requires the permission/)
  })

  test('a role has nothing for what it does not request, whoever acted before', async () => {
    for (const act of [
      { sub: 'role:proxy' },
      { sub: 'role:' },
      { sub: 'role:proxy', act: { sub: 'role:gateway' } },
      { sub: 'svc:portal', act: { sub: 'role:gateway' } },
    ])
      expect(await admit({ act })).toMatch(/does not request consensus\.thing\.do/)
  })

  test.each([
    'token',
    'key',
    'peer',
    'channel',
    'quarantine',
    'backup',
    'store',
    'federation',
    'site',
    'message',
    'checkpoint',
  ])('no role has a permission over %s', async (noun) => {
    expect(await admit({}, `${noun}:write`)).toMatchObject({ subject: 'ann' })
    expect(await admit({ act: { sub: 'role:gateway' } }, `${noun}:write`)).toMatch(/no role may use/)
  })

  test.each(['user:', 'abcd:', 'rolex'])(
    'a party whose name only looks like that of a role has nothing: %s',
    async (prefix) => {
      const act = { sub: `${prefix}gateway`, act: { sub: 'role:proxy' } }
      expect(await admit({ act })).toMatch(/does not request consensus\.thing\.do/)
    },
  )

  test('what roles alone may do is permitted to none in the name of a principal', async () => {
    expect(await admit({ act: { sub: 'role:gateway' } }, 'role')).toMatch(/only roles of the site/)
  })

  test('a client of the token endpoint is no role', async () => {
    expect(await admit({ act: { sub: 'svc:portal' } }, 'key:read')).toMatchObject({ actor: 'svc:portal' })
  })
})

describe('tools of the role, at the role that aggregates them', () => {
  const target = { address: 'consensus.tool.use', operation: { allow: 'consensus:write' } } as const
  const admitAt = async (change: Partial<CredentialClaims>, { address, operation }: AdmissionTarget = target) => {
    const judging: RoleContext = {
      ...context,
      identity: { name: 'offline', verify: async () => ({ ...claims, ...change }) },
      role_calls: new Map(),
      delegated_calls: new Map([['gateway', new Set(['consensus.tool.use', 'consensus.agentspace.message'])]]),
    }
    const admitted = await admitCaller(judging, { address, operation }, { bearer: 'x', isLocal: true })
    return isRefusal(admitted) ? admitted.message : admitted
  }
  const act = { sub: 'role:gateway' }

  test('are used in the name of a principal, with its permissions', async () => {
    expect(await admitAt({ act })).toMatchObject({ subject: 'ann', actor: 'role:gateway' })
    expect(await admitAt({ act: { ...act, act: { sub: 'svc:portal' } } })).toMatchObject({ subject: 'ann' })
    expect(await admitAt({ act, roles: ['auditor'] })).toMatch(/requires the permission/)
    const message = { address: 'consensus.agentspace.message', operation: { allow: 'authenticated' } } as const
    expect(await admitAt({ act }, message)).toMatchObject({ subject: 'ann' })
  })

  test('are used by no other role, through no other, and not in the own name', async () => {
    for (const other of [{ sub: 'role:proxy' }, { sub: 'role:proxy', act }, { sub: 'svc:portal', act }])
      expect(await admitAt({ act: other })).toMatch(/does not request/)
    const own = { sub: 'role:gateway', tenant_id: '*', roles: ['service'] }
    expect(await admitAt(own)).toMatch(/does not request consensus\.tool\.use/)
  })

  test('are never administrative, and nothing else is reached', async () => {
    for (const allow of ['key:read', 'federation:read', 'role'] as const)
      expect(await admitAt({ act }, { ...target, operation: { allow } })).toMatch(/no role may use|only roles/)
    expect(await admitAt({ act }, { ...target, address: 'consensus.tool.other' })).toMatch(/does not request/)
  })

  test('are listed without the administrative ones', async () => {
    const acting = await admitAt({ act })
    const direct = await admitAt({})
    if (typeof acting === 'string' || typeof direct === 'string') throw new Error('not admitted')
    expect(['consensus:write', 'public', 'key:read'].map((allow) => isOfferedTo(acting, { allow } as never))).toEqual([
      true,
      true,
      false,
    ])
    expect(isOfferedTo(direct, { allow: 'key:read' })).toBe(true)
  })
})

test('only a service of the site is a role', () => {
  const service = serviceCaller('gateway')
  expect(roleOfCaller(service)).toBe('gateway')
  expect(roleOfCaller({ ...service, tenant_id: 't' })).toBeUndefined()
  expect(roleOfCaller({ ...service, subject: 'Role:gateway' })).toBeUndefined()
})

describe('over a network', () => {
  const role = { sub: 'role:gateway', tenant_id: '*', roles: ['service'] }
  const certificate = { der: Buffer.from('x') }

  /** Of `consensus.thing.do`, over a connection with the certificate of `certified`, where that is a role. */
  async function admitAbroad(
    change: Partial<CredentialClaims>,
    certified: string | undefined,
    allow: Permission | 'public' = 'consensus:write',
  ) {
    const verified: unknown[] = []
    const judging: RoleContext = {
      ...context,
      identity: {
        name: 'x509',
        async verify(_bearer, shown) {
          verified.push(shown)
          return { ...claims, ...change }
        },
        findRole: () => certified,
      },
      role_calls: new Map([['gateway', new Set(['consensus.thing.do'])]]),
      delegated_calls: new Map([['gateway', new Set(['consensus.tool.use'])]]),
    }
    const judge = async (address: string) => {
      const admitted = await admitCaller(
        judging,
        { address, operation: { allow } },
        { bearer: 'x', certificate, isLocal: false },
      )
      return isRefusal(admitted) ? admitted.message : admitted.subject
    }
    return { requested: await judge('consensus.thing.do'), tool: await judge('consensus.tool.use'), verified }
  }

  test('the token of a role needs the certificate of this role, which is shown to no provider', async () => {
    expect(await admitAbroad(role, undefined)).toMatchObject({
      requested: expect.stringMatching(/with the certificate/),
    })
    expect(await admitAbroad(role, 'edge')).toMatchObject({ requested: expect.stringMatching(/certificate of edge/) })
    const own = await admitAbroad(role, 'gateway')
    expect(own).toMatchObject({ requested: 'role:gateway', tool: expect.stringMatching(/does not request/) })
    expect(own.verified).toEqual([undefined, undefined])
    expect((await admitAbroad({}, undefined)).verified).toEqual([certificate, certificate])
  })

  test('a token that a role holds needs it too, but for tools, where it must only not be that of another', async () => {
    const held = { act: { sub: 'role:gateway' } }
    const without = await admitAbroad(held, undefined)
    expect(without).toMatchObject({ requested: expect.stringMatching(/with the certificate/), tool: 'ann' })
    expect(await admitAbroad(held, 'gateway')).toMatchObject({ requested: 'ann', tool: 'ann' })
    expect((await admitAbroad(held, 'edge')).tool).toMatch(/certificate of edge/)
    const passedOn = { act: { sub: 'svc:portal', act: { sub: 'role:gateway' } } }
    expect((await admitAbroad(passedOn, undefined)).requested).toMatch(/with the certificate/)
  })

  test('the connection of a role carries no token of a person, and is anonymous with one', async () => {
    expect((await admitAbroad({}, 'gateway')).requested).toMatch(/certificate of gateway/)
    expect((await admitAbroad({}, 'gateway', 'public')).requested).toBe('anonymous')
    expect((await admitAbroad(role, undefined, 'public')).requested).toBe('anonymous')
    expect((await admitAbroad(role, 'gateway', 'public')).requested).toBe('role:gateway')
  })
})
