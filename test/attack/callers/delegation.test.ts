// Delegated tokens and grants in wrong hands: each counts at one role, for one actor, with no more than its principal has now.
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { grantAudienceUrn, roleAudienceUrn } from '../../../adapters/identity/offline/issuer.ts'
import { readKeyFiles } from '../../../adapters/keys/jose/key-files.ts'
import { roleKeysFolder } from '../../../daemon/boot/storage/site-folder.ts'
import { isRefusal } from '../../../daemon/kernel/error/errors.ts'
import type { DelegatedToken, Delegation } from '../../../daemon/kernel/identity/delegation.ts'
import { fillPath } from '../../../daemon/kernel/operation/operation.ts'
import { open } from '../../../daemon/roles/consensus/session/open.ts'
import { grant } from '../../../daemon/roles/site/delegation/grant.ts'
import { principal as principalOperation } from '../../../daemon/roles/site/delegation/principal.ts'
import { token as tokenOperation } from '../../../daemon/roles/site/delegation/token.ts'
import { revoke } from '../../../daemon/roles/site/token/revoke.ts'
import { openSession } from '../../../daemon/shared/match-session/match-session.ts'
import { accept, grantOf, readClaims, reasonOf, sampleWork } from '../../support/delegation/delegation-answers.ts'
import { signAsSite, signClaims } from '../../support/delegation/sign-claims.ts'
import type { CheckedClient } from '../../support/http/checked-client.ts'
import { createTestSite, type TestSite } from '../../support/site/test-site.ts'

const roles = ['site', 'resolution', 'consensus', 'intelligence']
let world: TestSite
let olga: CheckedClient
beforeAll(async () => {
  world = await createTestSite({
    profile: {
      platform: { roles },
      resolution: { port: 0 },
      intelligence: { port: 0 },
      identity: { audiences: { airflow: ['resolution'] } },
    },
  })
  await world.start()
})
beforeEach(async () => {
  olga = await world.as({ subject: 'olga', roles: ['admin'] })
})
afterAll(async () => {
  await world?.end()
  expect(world?.loggedErrors ?? []).toEqual([])
})

let people = 0
/** A new person for each test, so that a revocation concerns nobody else. */
async function createPerson(held: readonly string[] = ['analyst']) {
  const subject = `person-${++people}`
  const token = await world.token({ subject, roles: held })
  return { subject, token, acting: world.delegation('resolution', { subject_token: token }) }
}

const olgaActs = () => world.delegation('resolution', { subject_token: olga.token })

const tokenOf = async (acting: Delegation, role = 'consensus') => accept(await acting.token({ role })).token

let sessions = 0
const buildSession = () => ({
  ...{ id: `ses_${String(++sessions).padStart(32, '0')}`, tenant_id: 'tenant-a', lens_id: 'people', lens_version: '1' },
  label: { policy: 'SITE', level: 'UNCLASSIFIED', categories: [], originator: 'tenant-a' },
  subject: { kind: 'entity_match', left: 'a', right: 'b' },
  policy: { m: 1, n: 1 },
})

/** The status at one operation of each role that any analyst may request, and at the one that the token is for. */
async function readStatuses(token: string): Promise<Record<string, number>> {
  const lists = {
    site: '/api/v2/site/channel',
    resolution: '/api/v2/entity_match',
    consensus: '/api/v2/consensus/session',
    intelligence: '/api/v1/signal',
  }
  const statuses = Object.entries(lists).map(async ([role, at]) => {
    const { status } = await world.call(role, 'GET', at, undefined, { token })
    return [role, status] as const
  })
  const opened = await world.call('consensus', 'POST', fillPath(open, {}), buildSession(), { token })
  return { ...Object.fromEntries(await Promise.all(statuses)), open: opened.status }
}

const refusedEverywhere = { site: 401, resolution: 401, consensus: 401, intelligence: 401, open: 401 }

describe('a delegated token', () => {
  test('counts at its role alone, for what the actor requests there alone', async () => {
    const { acting } = await createPerson(['admin'])
    expect(await readStatuses(await tokenOf(acting))).toEqual({ ...refusedEverywhere, consensus: 403, open: 201 })
  })

  test('for a service outside counts at no role', async () => {
    const { subject, acting } = await createPerson()
    const { token } = accept(await acting.token({ service: 'airflow' }))
    expect(readClaims(token)).toMatchObject({ sub: subject, aud: 'airflow', act: { sub: 'role:resolution' } })
    expect(await readStatuses(token)).toEqual(refusedEverywhere)
  })

  test('ends five minutes later by the clock, with its cached verification', async () => {
    const { acting } = await createPerson()
    const { token, expires_ts } = accept(await acting.token({ role: 'consensus' }))
    expect(expires_ts - world.clock.now()).toBe(300_000)
    expect((await readStatuses(token)).open).toBe(201)
    world.clock.advance(361_000)
    expect(await readStatuses(token)).toEqual(refusedEverywhere)
  })

  test('never outlives the token that it was made from', async () => {
    const lived = await world.token({ subject: 'short', roles: ['analyst'], lifetime_s: 20 })
    const acting = world.delegation('resolution', { subject_token: lived })
    expect(accept(await acting.token({ role: 'consensus' })).expires_ts).toBe(world.clock.now() + 20_000)
    world.clock.advance(20_000)
    expect(await reasonOf(acting.token({ role: 'consensus' }))).toMatch(/^forbidden: .*(not valid|has expired)/)
  })

  test.each(['token', 'subject', 'actor'] as const)('ends at once with the revocation of the %s', async (what) => {
    const { subject, token, acting } = await createPerson()
    const delegated = await tokenOf(acting)
    expect((await readStatuses(delegated)).open).toBe(201)
    const revoked = {
      token: { jti: readClaims(token).jti as string },
      subject: { subject },
      actor: { subject: 'role:resolution' },
    }[what]
    await olga.ok(revoke, { ...revoked, reason: 'test' })
    expect(await readStatuses(delegated)).toEqual(refusedEverywhere)
    if (what !== 'actor') expect(await reasonOf(acting.token({ role: 'consensus' }))).toMatch(/^forbidden: .*not valid/)
    world.clock.advance(2_000)
  })

  test('is not exchanged at the token endpoint', async () => {
    const { acting } = await createPerson()
    for (const subject_token of [await tokenOf(acting), accept(await acting.store(sampleWork)).grant]) {
      const headers = { 'content-type': 'application/x-www-form-urlencoded' }
      const form = new URLSearchParams({
        ...{ grant_type: 'urn:ietf:params:oauth:grant-type:token-exchange', subject_token },
        ...{ subject_token_type: 'urn:ietf:params:oauth:token-type:access_token', client_id: 'x', client_secret: 'y' },
      })
      const { status } = await world.call('site', 'POST', '/oauth2/token', form.toString(), { headers })
      expect(status).toBe(401)
    }
  })

  test('passed on by its receiver keeps its principal, and shrinks in rights and life', async () => {
    const first = await signAsSite(
      world,
      { aud: roleAudienceUrn('alpha', 'resolution'), act: { sub: 'role:gateway' } },
      200,
    )
    const receiver = world.delegation('resolution', { subject_token: first })
    const { token } = accept(await receiver.token({ role: 'consensus' }))
    expect(readClaims(token)).toMatchObject({
      ...{ sub: 'pat', roles: ['analyst'], exp: readClaims(first).exp, derived_from: [readClaims(first).jti] },
      aud: roleAudienceUrn('alpha', 'consensus'),
      act: { sub: 'role:resolution', act: { sub: 'role:gateway' } },
    })
    expect(await reasonOf(receiver.token({ role: 'site' }))).toMatch(/requests nothing of the role site/)
    expect(await reasonOf(receiver.token({ role: 'hub' }))).toMatch(/requests nothing of the role hub/)
    expect(await reasonOf(receiver.token({ service: 'gitlab' }))).toMatch(/does not let the role resolution/)
  })

  test('passed on by another role than its receiver does not count', async () => {
    const stolen = await signAsSite(
      world,
      { aud: roleAudienceUrn('alpha', 'consensus'), act: { sub: 'role:gateway' } },
      200,
    )
    const thief = world.delegation('resolution', { subject_token: stolen })
    expect(await reasonOf(thief.token({ role: 'consensus' }))).toMatch(/^forbidden: .*not valid/)
    expect(await reasonOf(thief.store(sampleWork))).toMatch(/^forbidden: .*not valid/)
    // A role whose code acts for nobody reaches no delegation at all.
    const other = world.delegation('consensus', { subject_token: stolen })
    expect(await reasonOf(other.store(sampleWork))).toMatch(
      /the role consensus does not request site\.delegation\.grant/,
    )
  })

  test.each([
    ['the key of the role', 'resolution', {}],
    ['the key of the role, as its own token', 'resolution', { tenant_id: '*', roles: ['service'] }],
    ['the key of another role', 'consensus', {}],
  ])('signed by %s does not count', async (_, signer, claims) => {
    const [key] = readKeyFiles(roleKeysFolder(world.folder, signer))
    for (const role of ['consensus', 'resolution']) {
      const aud = roleAudienceUrn('alpha', role)
      const forged = await signClaims(world, key, { aud, act: { sub: 'role:resolution' }, ...claims }, 300)
      expect(await readStatuses(forged)).toEqual(refusedEverywhere)
      const acting = world.delegation('resolution', { subject_token: forged })
      expect(await reasonOf(acting.principal())).toMatch(/^forbidden: .*not valid/)
    }
  })
})

describe('a grant', () => {
  test('is a token for nobody', async () => {
    const { acting } = await createPerson(['admin'])
    expect(await readStatuses(accept(await acting.store(sampleWork)).grant)).toEqual(refusedEverywhere)
  })

  test('counts for its role alone, whatever is written beside it, and not when it is changed', async () => {
    const { subject, acting } = await createPerson()
    const stored = accept(await acting.store(sampleWork))
    expect(accept(await world.delegation('resolution', grantOf(stored)).principal())).toMatchObject({
      subject,
      roles: ['analyst'],
    })
    const edited = {
      ...stored,
      subject: 'olga',
      roles: ['admin'],
      clearance: { level: 'TOP_SECRET', categories: ['A'] },
    }
    expect(accept(await world.delegation('resolution', grantOf(edited)).principal())).toMatchObject({
      subject,
      roles: ['analyst'],
    })
    const foreign = await signAsSite(
      world,
      { aud: grantAudienceUrn('alpha', 'consensus'), origin: { source: 'token' } },
      300,
    )
    expect(await reasonOf(world.delegation('resolution', grantOf({ grant: foreign })).principal())).toMatch(
      /another role/,
    )
    const bare = await signAsSite(world, { aud: grantAudienceUrn('alpha', 'resolution') }, 300)
    expect(await reasonOf(world.delegation('resolution', grantOf({ grant: bare })).principal())).toMatch(/not valid/)
    const [head, , signature] = stored.grant.split('.')
    const claims = Buffer.from(JSON.stringify({ ...readClaims(stored.grant), roles: ['admin'] })).toString('base64url')
    const changed = world.delegation('resolution', grantOf({ grant: `${head}.${claims}.${signature}` }))
    expect(await reasonOf(changed.principal())).toBe('forbidden: the grant is not valid')
    const live = world.delegation('resolution', grantOf({ grant: await tokenOf(acting) }))
    expect(await reasonOf(live.principal())).toMatch(/^forbidden/)
  })

  test('counts for its work alone, and for none where it names none', async () => {
    const stored = accept(await olgaActs().store(sampleWork))
    const own = world.delegation('resolution', grantOf(stored))
    for (const work of [
      { ...sampleWork, id: 'run_2' },
      { ...sampleWork, collection: 'fusion_exchange' },
    ]) {
      const other = world.delegation('resolution', grantOf(stored, work))
      for (const answer of [other.principal(), other.token({ role: 'consensus' }), other.store(work)])
        expect(await reasonOf(answer)).toBe('forbidden: the grant belongs to other stored work; store the work again')
    }
    const further = accept(await own.store({ ...sampleWork, id: 'run_2' }))
    expect(await reasonOf(world.delegation('resolution', grantOf(further)).principal())).toMatch(/other stored work/)
    const aud = grantAudienceUrn('alpha', 'resolution')
    const unbound = await signAsSite(world, { aud, origin: { source: 'token' } })
    expect(await reasonOf(world.delegation('resolution', grantOf({ grant: unbound })).principal())).toBe(
      'forbidden: the grant is bound to no stored work; store the work again',
    )
  })

  test('ends with the grant of the work that began it, also when another role stores the further work', async () => {
    const { acting } = await createPerson()
    const stored = accept(await acting.store(sampleWork))
    const { exp } = readClaims(stored.grant)
    world.clock.advance(80 * 86_400_000)
    const token = await tokenOf(world.delegation('resolution', grantOf(stored)))
    expect(readClaims(token).grant_exp).toBe(exp)
    // No role requests one of another that stores work yet: the token as the next role gets it.
    const { iat: _iat, exp: _exp, iss: _iss, ...claims } = readClaims(token)
    const next = await signAsSite(world, { ...claims, aud: roleAudienceUrn('alpha', 'resolution') })
    const further = accept(await world.delegation('resolution', { subject_token: next }).store(sampleWork))
    expect(readClaims(further.grant).exp).toBe(exp)
  })

  test('outlives the token, and ends with its days', async () => {
    const token = await world.token({ subject: 'lasting', roles: ['analyst'], lifetime_s: 60 })
    const stored = accept(await world.delegation('resolution', { subject_token: token }).store(sampleWork))
    world.clock.advance(89 * 86_400_000)
    const acting = world.delegation('resolution', grantOf(stored))
    expect(readClaims(await tokenOf(acting))).toMatchObject({ sub: 'lasting', roles: ['analyst'] })
    world.clock.advance(86_400_000)
    expect(await reasonOf(acting.token({ role: 'consensus' }))).toMatch(/expired; store the work again/)
  })

  test('that stored work makes ends no later than its own', async () => {
    const { acting } = await createPerson()
    const stored = accept(await acting.store(sampleWork))
    world.clock.advance(86_400_000)
    const further = accept(await world.delegation('resolution', grantOf(stored)).store(sampleWork))
    expect(readClaims(further.grant).exp).toBe(readClaims(stored.grant).exp)
  })

  test.each(['token', 'subject'] as const)('ends with the revocation of the %s, and says why', async (what) => {
    const { subject, token, acting } = await createPerson()
    const stored = accept(await acting.store(sampleWork))
    const revoked = what === 'token' ? { jti: readClaims(token).jti as string } : { subject }
    await olga.ok(revoke, { ...revoked, reason: 'test' })
    for (const answer of [
      world.delegation('resolution', grantOf(stored)).principal(),
      world.delegation('resolution', grantOf(stored)).token({ role: 'consensus' }),
      world.delegation('resolution', grantOf(stored)).store(sampleWork),
    ])
      expect(await reasonOf(answer)).toMatch(/^forbidden: the principal of the stored work was revoked/)
  })
})

test('no person, whatever its permissions, asks for a delegation', async () => {
  const { token } = await createPerson()
  for (const held of [['admin'], ['service'], ['admin', 'service']]) {
    const person = await world.as({ subject: 'mallory', roles: held })
    expect(await person.refusal(grant, { subject_token: token, work: sampleWork })).toBe('forbidden')
    expect(await person.refusal(principalOperation, { subject_token: token })).toBe('forbidden')
    const input = { subject_token: token, audience: { role: 'consensus' } }
    expect(await person.refusal(tokenOperation, input)).toBe('forbidden')
  }
})

test('no role acts for a role, nor for nobody', async () => {
  const role = await world.token({ subject: 'role:resolution', tenant: '*', roles: ['service'] })
  const acting = world.delegation('resolution', { subject_token: role })
  expect(await reasonOf(acting.store(sampleWork))).toMatch(/^forbidden: nobody acts in the name of a role/)
  expect(await reasonOf(world.delegation('resolution', { subject_token: 'x.y.z' }).store(sampleWork))).toMatch(
    /not valid/,
  )
})

test('operations of other roles have the rights of the principal, not those of the role', async () => {
  const { acting } = await createPerson(['auditor'])
  const opened = await acting.roles.request(openSession, buildSession())
  expect(isRefusal(opened) && opened.message).toMatch(/requires the permission consensus:open/)
})

describe('each token leaves one audit record', () => {
  const readRecords = async (subject: string) => {
    const at = `/api/v2/audit?action=site.delegation.token&target=${subject}`
    const { json } = await world.call('site', 'GET', at, undefined, { token: olga.token })
    return (json as { items: { event: { tenant_id: string; detail: unknown } }[] }).items.map(({ event }) => event)
  }

  test('which names principal, role, audience and end, and stands for repeats', async () => {
    const { subject, acting } = await createPerson()
    const ask = async (): Promise<DelegatedToken> => accept(await acting.token({ role: 'consensus' }))
    const begun = await Promise.all([ask(), ask(), ask()])
    expect(new Set(begun.map(({ token }) => token)).size).toBe(1)
    expect(await readRecords(subject)).toMatchObject([
      {
        ...{ subject: 'role:resolution', tenant_id: 'tenant-a', outcome: 'done' },
        detail: { role: 'resolution', audience_role: 'consensus', roles: ['analyst'] },
      },
    ])
    world.clock.advance(149_000)
    expect((await ask()).token).toBe(begun[0]?.token)
    world.clock.advance(2_000)
    expect((await ask()).token).not.toBe(begun[0]?.token)
    expect(await readRecords(subject)).toHaveLength(2)
  })

  test('and neither token nor grant is in any record', async () => {
    const { acting } = await createPerson()
    const secrets = [await tokenOf(acting), accept(await acting.store(sampleWork)).grant].map(
      (text) => text.split('.')[2] ?? '',
    )
    const { text } = await world.call('site', 'GET', '/api/v2/audit?limit=500', undefined, { token: olga.token })
    for (const secret of secrets) expect(text).not.toContain(secret)
  })
})
