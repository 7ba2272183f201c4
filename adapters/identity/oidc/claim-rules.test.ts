// Maps a provider's claims to one tenant, roles and a clearance; refuses ambiguous claims.
import { describe, expect, test } from 'vitest'
import { mapClaims } from './claim-rules.ts'

const mapping = {
  tenant_claim: 'tenant_id',
  clearance_claim: 'clearance',
  role_claims: ['roles', 'realm_access.roles', 'scope'],
  role_map: { examiner: ['analyst'], chief: ['operator', 'auditor'], 'read:all': ['auditor'] },
}
const providerClaims = { sub: 'ada', jti: 'j', iat: 100.9, exp: 400.9, tenant_id: 'alpha' }

function mapWithChange(claims: Record<string, unknown>, change: Partial<typeof mapping> = {}) {
  const result = mapClaims({ ...providerClaims, ...claims }, { ...mapping, ...change })
  return 'refused' in result ? result.refused : result.payload
}

test('times are whole seconds, never later than those of the provider', () => {
  expect(mapWithChange({})).toMatchObject({ iat: 100, exp: 400 })
})

describe('roles', () => {
  const cases: [string, Record<string, unknown>, string[]][] = [
    ['none', {}, []],
    ['a list', { roles: ['examiner', 'other'] }, ['analyst']],
    ['a role that maps to several', { roles: ['chief', 'examiner', 'chief'] }, ['operator', 'auditor', 'analyst']],
    ['a single role as text', { roles: 'examiner' }, ['analyst']],
    ['roles of the realm', { realm_access: { roles: ['examiner'] } }, ['analyst']],
    ['scopes', { scope: 'openid read:all' }, ['auditor']],
    ['the first claim that is present, not all of them', { roles: [], scope: 'chief' }, []],
    ['names of the site’s own roles are ignored', { roles: ['admin', 'analyst'] }, []],
    ['names of inherited object members are ignored', { roles: ['constructor', 'toString', '__proto__'] }, []],
  ]
  test.each(cases)('%s', (_, claims, roles) => {
    expect(mapWithChange(claims)).toMatchObject({ roles })
  })

  test.each([[7], [[7]], [null], [{ examiner: true }]])('of another shape (%j) are refused', (roles) => {
    expect(mapWithChange({ roles })).toBe('roles')
  })
})

describe('the tenant', () => {
  test('is read from the configured claim: a name with dots, or a path through objects', () => {
    const url = 'https://example.com/tenant.id'
    expect(mapWithChange({ [url]: 'bravo' }, { tenant_claim: url })).toMatchObject({ tenant_id: 'bravo' })
    expect(mapWithChange({ org: { unit: { id: ['bravo'] } } }, { tenant_claim: 'org.unit.id' })).toMatchObject({
      tenant_id: 'bravo',
    })
    expect(mapWithChange({ org: 'x' }, { tenant_claim: 'org.length' })).toBe('no_tenant')
    expect(mapWithChange({}, { tenant_claim: 'constructor.name' })).toBe('no_tenant')
  })

  test.each([[''], [[]], [['a', 'b']], [7], [null], ['x'.repeat(129)]])(
    'is one name, so %j is refused',
    (tenant_id) => {
      expect(mapWithChange({ tenant_id })).toBe('no_tenant')
    },
  )

  test('is never the wildcard, and the subject is never a role of the site', () => {
    expect(mapWithChange({ tenant_id: '*' })).toBe('reserved')
    expect(mapWithChange({ tenant_id: ['*'] })).toBe('reserved')
    expect(mapWithChange({ sub: 'role:site' })).toBe('reserved')
  })
})

describe('the clearance', () => {
  test('is a level, or a level with categories and nationality', () => {
    expect(mapWithChange({ clearance: 'SECRET' })).toMatchObject({ clearance: { level: 'SECRET', categories: [] } })
    const whole = { level: 'SECRET', categories: ['A'], nationality: 'NL' }
    expect(mapWithChange({ clearance: whole })).toMatchObject({ clearance: whole })
    expect(mapWithChange({})).not.toHaveProperty('clearance')
    expect(mapWithChange({ clearance: null })).not.toHaveProperty('clearance')
  })

  test.each([[''], [7], [{}], [{ level: 'SECRET', extra: 1 }], [['SECRET']]])(
    'of another shape (%j) is refused',
    (clearance) => {
      expect(mapWithChange({ clearance })).toBe('clearance')
    },
  )
})

test('the actor of the subject is kept, with the whole chain', () => {
  expect(mapWithChange({ act: { sub: 'gateway', act: { sub: 'tool' } } })).toMatchObject({
    act: { sub: 'gateway', act: { sub: 'tool' } },
  })
  expect(mapWithChange({ act: 'gateway' })).toBe('actor')
})
