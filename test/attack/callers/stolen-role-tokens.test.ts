// Tokens of roles in wrong hands, and certificates without them: only both together, of one role, open an operation abroad.
import { readFileSync } from 'node:fs'
import { Agent, request as httpsRequest } from 'node:https'
import { text as readText } from 'node:stream/consumers'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { roleAudienceUrn } from '../../../adapters/identity/offline/issuer.ts'
import { readKeyFiles } from '../../../adapters/keys/jose/key-files.ts'
import { roleCertificateFile, roleKeysFolder } from '../../../daemon/boot/storage/site-folder.ts'
import { createScratchFolder } from '../../support/command/run-command.ts'
import { signAsSite, signClaims } from '../../support/delegation/sign-claims.ts'
import {
  createAuthority,
  issueCertificate,
  issueIrregularCertificate,
  type SiteAuthority,
} from '../../support/keys/site-certificates.ts'
import { createTwoMachines, type Machines } from '../../support/site/two-machines.ts'

const { dir, remove } = createScratchFolder('role-tokens')
let machines: Machines
let holders: SiteAuthority
beforeAll(async () => {
  holders = await createAuthority(dir, 'holders')
  const uri = 'urn:platform:site:alpha:role:intelligence'
  const person = { subject: 'eve', tenant_id: 'tenant-a', roles: ['admin'] }
  machines = await createTwoMachines(
    { home: ['site', 'consensus'], away: ['intelligence'] },
    {
      template: 'classified-airgapped',
      home: {
        site: { tls_client_auth: 'request' },
        x509: {
          ca_file: holders.file,
          subjects: [
            { uri: 'urn:example:eve', ...person },
            { uri, ...person },
          ],
        },
      },
    },
  )
  await machines.start('home')
})
afterAll(async () => {
  await machines?.end()
  remove()
})

const operations = { person: '/api/v2/site/channel', role: '/api/v2/site/verification' }

type Attempt = {
  /** PEM of a certificate with its key. */
  readonly pem?: string
  readonly token?: string
  readonly headers?: Readonly<Record<string, string>>
  readonly role?: string
  readonly agent?: Agent
}

async function request(path: string, { pem, token, headers, role = 'site', agent }: Attempt): Promise<number> {
  const { port } = new URL(machines.plan.urls[role] ?? '')
  const ca = machines.plan.authority.certificate
  const sent = { ...headers, ...(token === undefined ? {} : { authorization: `Bearer ${token}` }) }
  const shown = pem === undefined ? {} : { cert: pem, key: pem }
  const { promise, resolve, reject } = Promise.withResolvers<number>()
  httpsRequest(
    { host: '127.0.0.1', port, path, ca, headers: sent, ...shown, ...(agent ? { agent } : {}) },
    (answer) => {
      void readText(answer).then(() => resolve(answer.statusCode ?? 0), reject)
    },
  )
    .on('error', reject)
    .end()
  return await promise
}

const ownToken = (role: string, target = 'site') => {
  const [key] = readKeyFiles(roleKeysFolder(machines.folderOf(role), role))
  const sub = `role:${role}`
  const claims = { sub, client_id: sub, tenant_id: '*', roles: ['service'], aud: roleAudienceUrn('alpha', target) }
  return signClaims(machines.world, key, claims, 300)
}

const delegatedToken = (role: string, target: string) =>
  signAsSite(machines.world, { aud: roleAudienceUrn('alpha', target), act: { sub: `role:${role}` } })

const certificateOf = (role: string) => readFileSync(roleCertificateFile(machines.folderOf(role), role), 'utf8')

const issued = async (
  name: string,
  more: Parameters<typeof issueCertificate>[3],
  authority = machines.plan.authority,
) => (await issueCertificate(dir, authority, name, more)).pem

const client = '1.3.6.1.5.5.7.3.2'
const server = '1.3.6.1.5.5.7.3.1'
const uri = 'urn:platform:site:alpha:role:intelligence'
const irregular = async (name: string, uris: readonly string[], uses = [client], dns: readonly string[] = []) =>
  (await issueIrregularCertificate(dir, machines.plan.authority, name, { uris, uses, dns })).pem

test('the token of a role with its certificate is admitted, to what the role requests alone', async () => {
  const proof = { token: await ownToken('intelligence'), pem: certificateOf('intelligence') }
  expect(await request(operations.person, proof)).toBe(200)
  expect(await request(operations.role, proof)).toBe(200)
  expect(await request('/api/v2/site/key', proof)).toBe(403)
  expect(await request('/api/v2/site/checkpoint', { ...proof, token: await ownToken('consensus') })).toBe(403)
})

describe('a stolen token', () => {
  const certificates: Readonly<Record<string, () => Promise<string> | string | undefined>> = {
    'without a certificate': () => undefined,
    'with that of another role': () => certificateOf('consensus'),
    'with that of the role at another site': () => issued('bravo', { site: 'bravo', role: 'intelligence' }),
    'with that of the site': () => issued('alpha', {}),
    'with one of another authority': () => issued('alpha', { role: 'intelligence' }, holders),
    'with one that has ended': () =>
      issued('ended', { site: 'alpha', role: 'intelligence', not_after: Date.now() - 1 }),
    'with one of two names': () => irregular('two', [uri, 'urn:platform:site:alpha:role:site']),
    'with a name hidden in another': () => irregular('hidden', [], [client], [`x, URI:${uri}`]),
    'with one for servers': () => irregular('server', [uri], [server]),
    'with one for nothing': () => irregular('none', [uri], []),
    'with one of a holder': () => irregular('holder', ['urn:example:eve']),
  }

  test.each(Object.keys(certificates))('%s opens nothing', async (name) => {
    const pem = await certificates[name]?.()
    const proof = { token: await ownToken('intelligence'), ...(pem === undefined ? {} : { pem }) }
    expect([401, 403]).toContain(await request(operations.person, proof))
    // For everybody but a role not even the path is there.
    expect(await request(operations.role, proof)).toBe(name === 'with that of another role' ? 403 : 404)
  })

  test('gains nothing by a header that a proxy would send', async () => {
    const der =
      certificateOf('intelligence')
        .match(/CERTIFICATE-----([^-]+)/)?.[1]
        ?.replaceAll(/\s/g, '') ?? ''
    const headers = { 'client-cert': `:${der}:`, 'x-forwarded-client-cert': `URI=${uri}`, 'x-ssl-client-cert': der }
    const token = await ownToken('intelligence')
    expect(await request(operations.person, { token, headers })).toBe(403)
    expect(await request(operations.role, { token, headers })).toBe(404)
  })

  test('that a role holds for somebody opens nothing without the certificate of this role', async () => {
    const token = await delegatedToken('intelligence', 'consensus')
    const dissents = '/api/v2/dissent'
    const statuses = [
      await request(dissents, { token, role: 'consensus' }),
      await request(dissents, { token, role: 'consensus', pem: certificateOf('site') }),
      await request(dissents, { token, role: 'consensus', pem: certificateOf('intelligence') }),
    ]
    expect(statuses).toEqual([403, 403, 200])
  })
})

describe('the certificate of a role', () => {
  test('is nobody by itself, and a holder by no table', async () => {
    const pem = certificateOf('intelligence')
    expect(await request(operations.person, { pem })).toBe(401)
    expect(await request('/health', { pem })).toBe(200)
    const own = (await issueIrregularCertificate(dir, holders, 'named', { uris: [uri], uses: [client] })).pem
    expect(await request(operations.person, { pem: own })).toBe(401)
  })

  test('carries no token of a person', async () => {
    const token = await machines.world.token({ roles: ['admin'] })
    expect(await request(operations.person, { token })).toBe(200)
    expect(await request(operations.person, { token, pem: certificateOf('intelligence') })).toBe(403)
  })

  test('ends also on a connection that was opened before', async () => {
    const agent = new Agent({ keepAlive: true, maxSockets: 1 })
    onTestFinished(() => agent.destroy())
    const proof = { pem: certificateOf('intelligence'), agent }
    expect(await request(operations.person, { ...proof, token: await ownToken('intelligence') })).toBe(200)
    machines.world.clock.advance(91 * 86_400_000)
    expect(await request(operations.person, { ...proof, token: await ownToken('intelligence') })).toBe(401)
    expect(await request(operations.role, { ...proof, token: await ownToken('intelligence') })).toBe(404)
  })
})
