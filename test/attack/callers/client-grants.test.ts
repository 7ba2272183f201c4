// Stored work of clients and of those who exchange for them: it has what the profile gives each of them now.
import { readFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { parse, stringify } from 'yaml'
import { revoke } from '../../../daemon/roles/site/token/revoke.ts'
import { accept, grantOf, readClaims, reasonOf, sampleWork } from '../../support/delegation/delegation-answers.ts'
import { createTestSite, type TestSite } from '../../support/site/test-site.ts'

let world: TestSite
beforeAll(async () => {
  const profile = { platform: { roles: ['site', 'resolution', 'consensus'] }, resolution: { port: 0 } }
  world = await createTestSite({ profile })
  await world.start()
})
afterAll(async () => {
  await world?.end()
  expect(world?.loggedErrors ?? []).toEqual([])
})

async function restartWith(clients: readonly unknown[]): Promise<void> {
  await world.stop()
  const profile = parse(readFileSync(world.folder.profile, 'utf8')) as Record<string, object>
  const text = stringify({ ...profile, identity: { ...profile.identity, clients } }, { aliasDuplicateObjects: false })
  writeFileSync(world.folder.profile, text)
  await world.start()
}

describe('a grant of a client of the token endpoint', () => {
  const client_secret = 'a-secret-of-more-than-sixteen-characters'
  const subject_token_type = 'urn:ietf:params:oauth:token-type:access_token'
  const issue = async (client_id: string, form: Record<string, string>): Promise<string> => {
    const headers = { 'content-type': 'application/x-www-form-urlencoded' }
    const text = new URLSearchParams({ ...form, client_id, client_secret }).toString()
    const { status, json } = await world.call('site', 'POST', '/oauth2/token', text, { headers })
    expect(status).toBe(200)
    return (json as { access_token: string }).access_token
  }
  const exchange = (client_id: string, subject_token: string) =>
    issue(client_id, {
      ...{ grant_type: 'urn:ietf:params:oauth:grant-type:token-exchange' },
      ...{ subject_token, subject_token_type },
    })
  const actFor = (subject_token: string) => world.delegation('resolution', { subject_token })
  const makeClients = () => {
    const secret_file = path.join(world.folder.data, 'endpoint.secret')
    writeFileSync(secret_file, client_secret, { mode: 0o600 })
    const loader = { client_id: 'loader', secret_file, roles: ['analyst', 'auditor'] }
    const named = { ...loader, client_id: 'named', subject: 'svc:named' }
    const front = { client_id: 'front', secret_file, roles: ['service'], may_exchange: true }
    const back = { ...front, client_id: 'back' }
    return { loader, named, front, back }
  }

  test('that was removed, its earlier tokens store no work', async () => {
    const { loader, named, front } = makeClients()
    await restartWith([loader, named, front])
    const grant_type = 'client_credentials'
    const tokens = [await issue('loader', { grant_type }), await issue('named', { grant_type })]
    const exchanged = await exchange('front', tokens[0] ?? '')
    await restartWith([front])
    for (const [at, name] of ['loader', 'named'].entries())
      expect(await reasonOf(actFor(tokens[at] ?? '').store(sampleWork))).toMatch(
        `the client ${name} is not in the profile`,
      )
    expect(await reasonOf(actFor(exchanged).store(sampleWork))).toMatch(/the client loader is not in the profile/)
    await restartWith([])
    const person = await world.token({ subject: 'ann', roles: ['analyst'] })
    expect(await reasonOf(actFor(person).store(sampleWork))).toBe('accepted')
  })

  test('that was exchanged has what the subject and each exchanging client have now', async () => {
    const { loader, front, back } = makeClients()
    await restartWith([loader, front, back])
    const own = await issue('loader', { grant_type: 'client_credentials' })
    const twice = await exchange('back', await exchange('front', own))
    const stored = accept(await actFor(twice).store(sampleWork))
    expect(readClaims(stored.grant).origin).toEqual({
      ...{ source: 'client', client_id: 'loader' },
      exchanged_by: ['front', 'back'],
    })
    const later = () => world.delegation('resolution', grantOf(stored)).principal()
    await restartWith([{ ...loader, roles: ['auditor', 'admin'] }, front, back])
    expect(accept(await later())).toMatchObject({ subject: 'loader', roles: ['auditor'] })
    await restartWith([loader, { ...front, may_exchange: false }, back])
    expect(await reasonOf(later())).toMatch(/the client front, which acts for loader, is not in the profile/)
    await restartWith([loader, front, back])
    expect(await reasonOf(later())).toBe('accepted')
    await restartWith([front, back])
    expect(await reasonOf(later())).toMatch(/the client loader is not in the profile/)
    await restartWith([])
  })

  test('for a person who was revoked ends as that of the person', async () => {
    const { front } = makeClients()
    await restartWith([front])
    const olga = await world.as({ subject: 'olga', roles: ['admin'] })
    const token = await world.token({ subject: 'bob', roles: ['analyst'] })
    const stored = accept(await actFor(await exchange('front', token)).store(sampleWork))
    expect(readClaims(stored.grant).origin).toEqual({ source: 'token', exchanged_by: ['front'] })
    await olga.ok(revoke, { subject: 'bob', reason: 'test' })
    expect(await reasonOf(world.delegation('resolution', grantOf(stored)).principal())).toMatch(/was revoked/)
    await restartWith([])
  })
})

test('a grant of a client that a command minted for has what the profile gives the client now, and ends with it', async () => {
  const secret_file = path.join(world.folder.data, 'client.secret')
  writeFileSync(secret_file, 'a-secret-of-more-than-sixteen-characters', { mode: 0o600 })
  const client = { client_id: 'etl', secret_file, roles: ['analyst', 'auditor'] }
  await restartWith([client])
  const token = await world.token({ subject: 'etl', roles: ['admin', 'analyst', 'auditor'] })
  const stored = accept(await world.delegation('resolution', { subject_token: token }).store(sampleWork))
  expect(stored.roles).toEqual(['analyst', 'auditor'])
  await restartWith([{ ...client, roles: ['auditor', 'operator'] }])
  const now = accept(await world.delegation('resolution', grantOf(stored)).principal())
  expect(now).toEqual({ subject: 'etl', tenant_id: 'tenant-a', roles: ['auditor'], clearance: expect.anything() })
  await restartWith([])
  expect(await reasonOf(world.delegation('resolution', grantOf(stored)).principal())).toMatch(
    /the client etl is not in the profile/,
  )
})
