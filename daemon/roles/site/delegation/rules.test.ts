// A role never gets more for a principal than it had, nor more than it has now, whatever the profile says meanwhile.
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { isRefusal } from '../../../kernel/error/errors.ts'
import type { CredentialOrigin } from '../../../kernel/identity/delegation.ts'
import type { Actor } from '../../../kernel/identity/identity.ts'
import { type Clearance, dominates, type Label } from '../../../kernel/label/label.ts'
import type { OAuthClient } from '../token/model.ts'
import type { DelegationTargets, PrincipalRegister, VerifiedCredential } from './model.ts'
import { decideDelegatedToken, decideGrant, limitLevel, resolveCurrentPrincipal } from './rules.ts'

const policy = { policy: 'P', levels: ['LOW', 'MID', 'HIGH'] }
const role_names = ['admin', 'analyst', 'auditor']
const now_s = 1_800_000_000

const ann: VerifiedCredential = {
  ...{ subject: 'ann', tenant_id: 't', roles: ['admin', 'analyst'], jti: 'tok_1', exp: now_s + 3_600 },
  clearance: { level: 'HIGH', categories: ['A', 'B'] },
  origin: { source: 'token' },
}
const client: OAuthClient = {
  ...{ client_id: 'etl', secret_sha256: '0'.repeat(64), subject: 'ann', tenant_id: 't', roles: ['analyst'] },
  ...{ clearance: { level: 'MID', categories: ['B'] }, may_exchange: false },
}
const front: OAuthClient = { ...client, client_id: 'front', subject: 'svc:front', may_exchange: true }
const emptyRegister: PrincipalRegister = { clients: [], certificate_holders: [], role_names }

const resolve = (
  origin: CredentialOrigin,
  register: Partial<PrincipalRegister>,
  held: Partial<VerifiedCredential> = {},
) => resolveCurrentPrincipal({ ...ann, ...held, origin }, { ...emptyRegister, ...register }, policy)
const reasonOf = (value: unknown) => (isRefusal(value) ? `${value.code}: ${value.message}` : value)

describe('what a principal has now', () => {
  const cases: readonly [string, CredentialOrigin, Partial<PrincipalRegister>, unknown][] = [
    [
      'a minted token: what it gave',
      { source: 'token' },
      {},
      { roles: ['admin', 'analyst'], clearance: ann.clearance },
    ],
    ['a role that is gone is not given', { source: 'token' }, { role_names: ['analyst'] }, { roles: ['analyst'] }],
    [
      'a client: what the profile gives it now',
      { source: 'client', client_id: 'etl' },
      { clients: [client] },
      { roles: ['analyst'], clearance: { level: 'MID', categories: ['B'] } },
    ],
    [
      'a provider: what its map can still give',
      { source: 'provider', issuer: 'https://i' },
      { provider: { issuer: 'https://i', roles: ['analyst', 'auditor'] } },
      { roles: ['analyst'], clearance: ann.clearance },
    ],
    [
      'a holder of two certificates: the rights of one, not of both',
      { source: 'certificate' },
      {
        certificate_holders: [
          { subject: 'ann', tenant_id: 't', roles: ['auditor'], clearance: { level: 'HIGH', categories: [] } },
          { subject: 'ann', tenant_id: 't', roles: ['admin'], clearance: { level: 'LOW', categories: [] } },
        ],
      },
      { roles: ['admin'], clearance: { level: 'LOW', categories: [] } },
    ],
    [
      'an exchange: what its subject has',
      { source: 'token', exchanged_by: ['etl'] },
      { clients: [{ ...client, may_exchange: true }] },
      { roles: ['admin', 'analyst'] },
    ],
    [
      'an exchange for a client: what the profile gives that client now',
      { source: 'client', client_id: 'etl', exchanged_by: ['front', 'everywhere'] },
      { clients: [client, front, { ...front, client_id: 'everywhere', tenant_id: '*' }] },
      { roles: ['analyst'] },
    ],
  ]
  test.each(cases)('%s', (_, origin, register, expected) => {
    expect(resolve(origin, register)).toMatchObject({ subject: 'ann', tenant_id: 't', ...(expected as object) })
  })

  const removed: readonly [string, CredentialOrigin, Partial<PrincipalRegister>, RegExp][] = [
    ['a client that is gone', { source: 'client', client_id: 'etl' }, {}, /the client etl is not in the profile/],
    [
      'a client of the same name for another subject',
      { source: 'client', client_id: 'etl' },
      { clients: [{ ...client, subject: 'bob' }] },
      /the client etl/,
    ],
    [
      'a client that was moved to another tenant',
      { source: 'client', client_id: 'etl' },
      { clients: [{ ...client, tenant_id: 'u' }] },
      /the client etl/,
    ],
    ['a holder whose row is gone', { source: 'certificate' }, {}, /the certificate holder ann/],
    [
      'a holder of the name in another tenant',
      { source: 'certificate' },
      { certificate_holders: [{ subject: 'ann', tenant_id: 'u', roles: ['admin'] }] },
      /the certificate holder ann/,
    ],
    [
      'a provider that the profile no longer names',
      { source: 'provider', issuer: 'https://i' },
      {},
      /identity provider/,
    ],
    [
      'a provider that was replaced',
      { source: 'provider', issuer: 'https://i' },
      { provider: { issuer: 'https://other', roles: role_names } },
      /identity provider/,
    ],
    [
      'a client that may no longer exchange',
      { source: 'token', exchanged_by: ['etl'] },
      { clients: [client] },
      /the client etl, which acts for ann/,
    ],
    [
      'an exchange for a client that is gone',
      { source: 'client', client_id: 'etl', exchanged_by: ['front'] },
      { clients: [front] },
      /the client etl is not/,
    ],
    [
      'an earlier one of two exchanging clients that is gone',
      { source: 'provider', issuer: 'https://i', exchanged_by: ['etl', 'front'] },
      { clients: [front], provider: { issuer: 'https://i', roles: role_names } },
      /the client etl, which acts for ann/,
    ],
    [
      'an exchanging client that was moved to another tenant',
      { source: 'token', exchanged_by: ['front'] },
      { clients: [{ ...front, tenant_id: 'u' }] },
      /the client front, which acts for ann/,
    ],
    [
      'roles that are all gone',
      { source: 'token' },
      { role_names: ['auditor'] },
      /none of its roles any more: admin, an/,
    ],
  ]
  test.each(removed)('nothing: %s', (_, origin, register, reason) => {
    expect(reasonOf(resolve(origin, register))).toMatch(reason)
  })
})

const clearances = fc.option(
  fc.record({
    level: fc.constantFrom('LOW', 'MID', 'HIGH', 'UNKNOWN'),
    categories: fc.subarray(['A', 'B', 'C']),
    nationality: fc.constantFrom('NOR', 'EST'),
  }) as fc.Arbitrary<Clearance>,
  { nil: undefined },
)
const roleLists = fc.subarray([...role_names, 'gone'])
const labels: fc.Arbitrary<Label> = fc.record({
  policy: fc.constant('P'),
  level: fc.constantFrom('LOW', 'MID', 'HIGH'),
  categories: fc.subarray(['A', 'B', 'C']),
  originator: fc.constantFrom('t', 'u'),
  releasable_to: fc.option(fc.subarray(['t', 'NOR', 'EST']), { nil: undefined }),
}) as fc.Arbitrary<Label>

test('is never wider than was stored, and never wider than now', () => {
  fc.assert(
    fc.property(roleLists, clearances, roleLists, clearances, fc.array(labels), (had, cleared, has, now, objects) => {
      const held = { ...ann, roles: had, clearance: cleared, origin: { source: 'client', client_id: 'etl' } as const }
      const register = { ...emptyRegister, clients: [{ ...client, roles: has, clearance: now }] }
      const current = resolveCurrentPrincipal(held, register, policy)
      if (isRefusal(current)) {
        expect(had.filter((role) => has.includes(role) && role_names.includes(role))).toEqual([])
        return
      }
      for (const role of current.roles) expect([had.includes(role), has.includes(role)]).toEqual([true, true])
      for (const label of objects) {
        if (!dominates({ clearance: current.clearance, tenant_id: 't' }, label, policy)) continue
        expect(dominates({ clearance: cleared, tenant_id: 't' }, label, policy)).toBe(true)
        expect(dominates({ clearance: now, tenant_id: 't' }, label, policy)).toBe(true)
      }
      expect(current).toMatchObject({ subject: 'ann', tenant_id: 't' })
    }),
  )
})

test('loses nothing that both have', () => {
  fc.assert(
    fc.property(roleLists, clearances, (had, cleared) => {
      const held = { ...ann, roles: had, clearance: cleared }
      const current = resolveCurrentPrincipal(held, { ...emptyRegister, role_names: [...role_names, 'gone'] }, policy)
      expect(current).toMatchObject({ roles: had })
    }),
  )
})

const targets: DelegationTargets = { roles: new Set(['consensus', 'site']), services: new Set(['airflow']) }
const principal = { subject: 'ann', tenant_id: 't', roles: ['analyst'] }
const decideToken = (change: Partial<VerifiedCredential>, audience: { role: string } | { service: string }) =>
  decideDelegatedToken({ ...ann, ...change }, principal, { role: 'resolution', audience, targets, now_s })

/** A chain of as many actors. */
const chainOf = (length: number): Actor | undefined =>
  length === 0 ? undefined : { sub: `role:r${length}`, act: chainOf(length - 1) }

describe('a delegated token', () => {
  test('lives five minutes, names the role as actor, and is revoked with the credential', () => {
    expect(decideToken({ act: { sub: 'svc:portal' }, derived_from: ['tok_0'] }, { role: 'consensus' })).toEqual({
      claims: {
        ...principal,
        act: { sub: 'role:resolution', act: { sub: 'svc:portal' } },
        derived_from: ['tok_0', 'tok_1'],
        origin: { source: 'token' },
      },
      exp: now_s + 300,
    })
  })

  test('made from a grant carries its end through further roles, and no other does', () => {
    const end = { grant_exp: now_s + 90 }
    expect(decideToken(end, { role: 'consensus' })).toMatchObject({ claims: end })
    expect(decideToken({ ...end, exp: now_s + 7 }, { role: 'consensus' })).toMatchObject({
      claims: end,
      exp: now_s + 7,
    })
    expect(decideToken({}, { role: 'consensus' })).not.toHaveProperty('claims.grant_exp')
  })

  test('never outlives the credential', () => {
    expect(decideToken({ exp: now_s + 7 }, { role: 'consensus' })).toMatchObject({ exp: now_s + 7 })
    expect(reasonOf(decideToken({ exp: now_s }, { role: 'consensus' }))).toMatch(/has expired/)
  })

  test('is for roles that the role requests and services of the profile, and never for the site role', () => {
    expect(isRefusal(decideToken({}, { service: 'airflow' }))).toBe(false)
    expect(reasonOf(decideToken({}, { role: 'site' }))).toMatch(/^forbidden: .*requests nothing of the role site/)
    expect(reasonOf(decideToken({}, { role: 'hub' }))).toMatch(/requests nothing of the role hub/)
    expect(reasonOf(decideToken({}, { service: 'consensus' }))).toMatch(/identity\.audiences/)
  })

  test('is not passed on for ever', () => {
    const tokens = Array.from({ length: 8 }, (_, at) => `tok_${at}`)
    expect(reasonOf(decideToken({ act: chainOf(8) }, { role: 'consensus' }))).toMatch(/too often/)
    expect(reasonOf(decideToken({ derived_from: tokens }, { role: 'consensus' }))).toMatch(/too often/)
    expect(isRefusal(decideToken({ act: chainOf(7), derived_from: tokens.slice(1) }, { role: 'consensus' }))).toBe(
      false,
    )
  })
})

describe('a grant', () => {
  const decide = (more: Partial<VerifiedCredential>) =>
    decideGrant({ ...ann, ...more }, principal, { now_s, life_s: 86_400 })

  test('outlives the credential that made it, with the rights of now', () => {
    expect(decide({})).toMatchObject({
      exp: now_s + 86_400,
      claims: { roles: ['analyst'], derived_from: ['tok_1'] },
    })
  })

  test('made by stored work, also at another role, ends with the grant of that work', () => {
    expect(decide({ grant_exp: now_s + 7 })).toMatchObject({ exp: now_s + 7 })
  })

  test('leaves room for the tokens that are made from it', () => {
    const derived_from = Array.from({ length: 7 }, (_, at) => `tok_${at}`)
    const terms = { now_s, life_s: 60 }
    expect(reasonOf(decideGrant({ ...ann, derived_from }, principal, terms))).toMatch(/too often/)
  })
})

test.each<[string | undefined, string | undefined, unknown]>([
  [undefined, 'HIGH', 'HIGH'],
  ['MID', 'HIGH', 'MID'],
  ['HIGH', 'MID', 'MID'],
  ['LOW', undefined, undefined],
  ['ABOVE', 'HIGH', 'invalid: the level ABOVE does not exist at this site'],
])('a token of at most %s for a principal cleared %s has %s', (limit, level, expected) => {
  const { clearance: _, ...bare } = ann
  const limited = limitLevel({ ...bare, ...(level ? { clearance: { level, categories: ['A'] } } : {}) }, limit, policy)
  expect(isRefusal(limited) ? reasonOf(limited) : limited.clearance?.level).toEqual(expected)
  if (!isRefusal(limited) && level) expect(limited.clearance?.categories).toEqual(['A'])
})
