// Roles that act for people of a real Keycloak: it exchanges their tokens for services, and the site issues its own for the rest.
import { afterAll, beforeAll, beforeEach, expect } from 'vitest'
import { isRefusal, type Refusal } from '../../../daemon/kernel/error/errors.ts'
import type { Delegation } from '../../../daemon/kernel/identity/delegation.ts'
import { simulatedClock } from '../../support/clock/simulated-clock.ts'
import { grantOf, sampleWork } from '../../support/delegation/delegation-answers.ts'
import { type Keycloak, keycloakRequirement } from '../../support/engines/keycloak.ts'
import { keycloakAudience, keycloakSecrets } from '../../support/engines/keycloak-realm.ts'
import { sharedKeycloak } from '../../support/engines/shared-servers.ts'
import { whenPresent } from '../../support/runner/requires.ts'
import { startTestSite, type TestSite } from '../../support/site/test-site.ts'

const test = whenPresent(keycloakRequirement)

let provider: Keycloak
let world: TestSite
let subject_token: string
let acting: Delegation
beforeAll(async () => {
  if (!keycloakRequirement.isPresent) return
  provider = sharedKeycloak('delegation')
  await provider.start()
  world = await startTestSite({
    tenant: 'acme',
    // Keycloak signs by the time of the machine.
    clock: simulatedClock(Date.now()),
    profile: {
      platform: { roles: ['site', 'resolution', 'consensus'] },
      resolution: { port: 0 },
      identity: { provider: 'oidc', audiences: { downstream: ['resolution'], elsewhere: ['resolution'] } },
      sso: {
        ...{
          issuer: provider.issuer,
          audience: keycloakAudience,
          client_id: 'site',
          client_secret: keycloakSecrets.site,
        },
        role_map: { examiner: ['analyst'] },
      },
    },
  })
})
afterAll(async () => {
  await world?.end()
  await provider?.end()
  expect(world?.loggedErrors ?? []).toEqual([])
})

beforeEach(async () => {
  if (!keycloakRequirement.isPresent) return
  const person = { username: 'ada', password: keycloakSecrets.ada }
  const client = { client_id: 'console', client_secret: keycloakSecrets.console }
  subject_token = (await provider.token({ ...client, grant_type: 'password', ...person, scope: 'openid' })).access_token
  acting = world.delegation('resolution', { subject_token })
})

function accept<T>(value: T | Refusal): T {
  if (isRefusal(value)) throw value
  return value
}
const readClaims = (token: string) => JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString())

test('a service gets a token of Keycloak for itself, and not that of the person', async () => {
  const { token, expires_ts } = accept(await acting.token({ service: 'downstream' }))
  expect(token).not.toBe(subject_token)
  expect(readClaims(token)).toMatchObject({ iss: provider.issuer, aud: 'downstream', azp: 'site', tenant_id: 'acme' })
  expect(expires_ts).toBeGreaterThan(world.clock.now())
  expect(accept(await acting.token({ service: 'downstream' })).token).toBe(token)
})

test('a service that Keycloak does not know is refused with its code, and gets no token of the site', async () => {
  const refused = await acting.token({ service: 'elsewhere' })
  expect(isRefusal(refused) && refused.message).toMatch(/^the identity provider refused: invalid_/)
})

test('stored work of the person acts at other roles with the mapped roles, and ends with the revocation', async () => {
  const stored = accept(await acting.store(sampleWork))
  expect(stored).toMatchObject({ tenant_id: 'acme', roles: ['analyst'], clearance: { level: 'SECRET' } })
  const later = world.delegation('resolution', grantOf(stored))
  expect(readClaims(accept(await later.token({ role: 'consensus' })).token)).toMatchObject({
    ...{ sub: stored.subject, roles: ['analyst'], act: { sub: 'role:resolution' } },
    origin: { source: 'provider', issuer: provider.issuer },
  })
  const admin = await world.token({ subject: 'olga', roles: ['admin'] })
  const body = { subject: stored.subject, reason: 'left' }
  const revoked = await world.call('site', 'POST', '/api/v2/site/token/revocation', body, { token: admin })
  expect(revoked.status).toBe(200)
  world.clock.advance(1_000)
  const refused = await later.token({ role: 'consensus' })
  expect(isRefusal(refused) && refused.message).toMatch(/was revoked/)
})
