// A stolen key of one role authenticates as that role, and as no other.
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { roleAudienceUrn, siteIssuerUrn } from '../../../adapters/identity/offline/issuer.ts'
import { readKeyFiles, type StoredKey } from '../../../adapters/keys/jose/key-files.ts'
import { issueToken } from '../../../adapters/keys/jose/tokens.ts'
import { roleKeysFolder } from '../../../daemon/boot/storage/site-folder.ts'
import { sendHttpRequest } from '../../support/http/send-http-request.ts'
import {
  buildTokenClaims,
  type SingleClusterSite,
  siteClientSecret,
  startSingleClusterSite,
} from '../../support/site/single-cluster-site.ts'

let site: SingleClusterSite
let stolen: StoredKey
beforeAll(async () => {
  site = await startSingleClusterSite()
  const [key] = readKeyFiles(roleKeysFolder(site.folder, 'consensus'))
  if (!key) throw new Error('consensus has no key')
  stolen = key
})
afterAll(() => site?.close())

/** The service information of the consensus role. */
const buildRoleClaims = () => {
  const claims = buildTokenClaims({ sub: 'role:consensus', tenant_id: '*', roles: ['service'] })
  return { ...claims, exp: claims.iat + 300 }
}

const rolePaths = { site: '/api/v2/site/key', consensus: '/api/v2/consensus/session' } as const
type RequestedRole = keyof typeof rolePaths

async function readStatus(role: RequestedRole, token: string): Promise<number> {
  return (await site.request(role, { method: 'GET', path: rolePaths[role], token })).status
}

/** Status codes of both services, each called with a token for its own audience unless specified. */
async function readStatuses(change: Readonly<Record<string, unknown>>): Promise<number[]> {
  const token = (role: RequestedRole) =>
    issueToken(stolen, { ...buildRoleClaims(), aud: roleAudienceUrn('alpha', role), ...change })
  return [await readStatus('site', await token('site')), await readStatus('consensus', await token('consensus'))]
}

const listRefusals = () =>
  site.logged
    .map((line) => JSON.parse(line))
    .filter(({ event }) => event === 'identity.token.refused')
    .map(({ reason }) => reason)

test('it is the role for both services, which admit it to the operations that the role requests', async () => {
  expect(await readStatuses({})).toEqual([200, 403])
})

test('it is nobody over a network, whatever the operation', async () => {
  const token = await issueToken(stolen, { ...buildRoleClaims(), aud: roleAudienceUrn('alpha', 'site') })
  const { status, json } = await sendHttpRequest(
    `http://127.0.0.1:${site.port('site')}`,
    ...(['GET', rolePaths.site, undefined, { token }] as const),
  )
  expect({ status, json }).toMatchObject({ status: 403, json: { detail: expect.stringContaining('local socket') } })
})

test.each([
  ['the site role', { sub: 'role:site', client_id: 'role:site' }],
  ['a role that does not exist', { sub: 'role:intelligence', client_id: 'role:intelligence' }],
  ['a person', { sub: 'ada', client_id: 'ada' }],
  ['an administrator under its own name', { roles: ['admin'] }],
  ['a service and an administrator', { roles: ['service', 'admin'] }],
  ['a service twice', { roles: ['service', 'service'] }],
  ['nobody in particular', { roles: [] }],
  ['a member of the tenant', { tenant_id: 'alpha' }],
  ['a member of another tenant', { tenant_id: 'bravo' }],
  ['itself through another client', { client_id: 'gateway' }],
  ['itself, acted for by another', { act: { sub: 'eve' } }],
  ['itself with a clearance', { clearance: { level: 'TOP_SECRET', categories: [] } }],
  ['itself out of another token', { derived_from: ['tok_1'] }],
  ['itself with what nobody knows yet', { scope: 'admin' }],
  ['itself for longer', { exp: buildRoleClaims().iat + 3_600 }],
  ['itself for several', { aud: [roleAudienceUrn('alpha', 'site'), roleAudienceUrn('alpha', 'consensus')] }],
])('it is not %s', async (_, change) => {
  const before = listRefusals()
  expect(await readStatuses(change)).toEqual([401, 401])
  expect(listRefusals()).toEqual(Array(before.length + 2).fill('not_its_own'))
})

describe('a token that a service was shown', () => {
  test.each([
    ['one role', roleAudienceUrn('alpha', 'consensus'), [401, 403]],
    ['the other', roleAudienceUrn('alpha', 'site'), [200, 401]],
    ['the whole site', siteIssuerUrn('alpha'), [401, 401]],
    ['a role of another site', roleAudienceUrn('bravo', 'site'), [401, 401]],
  ])('meant for %s, is worth nothing elsewhere', async (_, aud, expected) => {
    expect(await readStatuses({ aud })).toEqual(expected)
  })

  test('is worth nothing elsewhere, though it is an administrator’s and the site’s own key has signed it', async () => {
    const token = await site.token({ roles: ['admin'] }, { aud: roleAudienceUrn('alpha', 'consensus') })
    expect([await readStatus('consensus', token), await readStatus('site', token)]).toEqual([200, 401])
    // Nor does it become one that is.
    const form = { ...exchange, subject_token: token }
    expect(await postToTokenEndpoint(form)).toEqual([400, 'invalid_grant'])
  })
})

const exchange = {
  grant_type: 'urn:ietf:params:oauth:grant-type:token-exchange',
  client_id: 'gateway',
  client_secret: siteClientSecret,
  subject_token_type: 'urn:ietf:params:oauth:token-type:access_token',
}

async function postToTokenEndpoint(form: Readonly<Record<string, string>>) {
  const headers = { 'content-type': 'application/x-www-form-urlencoded' }
  const body = String(new URLSearchParams(form))
  const { status, text } = await site.request('site', { method: 'POST', path: '/oauth2/token', headers, body })
  return [status, JSON.parse(text).error]
}

describe('the token endpoint', () => {
  test('makes no token of another tenant out of it', async () => {
    for (const aud of [siteIssuerUrn('alpha'), roleAudienceUrn('alpha', 'site')]) {
      const subject_token = await issueToken(stolen, { ...buildRoleClaims(), aud })
      expect(await postToTokenEndpoint({ ...exchange, subject_token })).toEqual([400, 'invalid_grant'])
    }
  })

  test('does not publish it: others would take it for the site’s own', async () => {
    const { text } = await site.request('site', { method: 'GET', path: '/oauth2/jwks' })
    const kids = JSON.parse(text).keys.map(({ kid }: { kid: string }) => kid)
    expect(kids).toEqual([site.tokenKey().public_key.kid])
  })
})
