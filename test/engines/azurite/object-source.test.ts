// The source of objects of Azure against each requirement, on the emulator of its maker, which verifies keys and signatures.
import { randomBytes } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { afterAll, beforeAll, describe, expect } from 'vitest'
import type { OpenConnection } from '../../../daemon/roles/ingest/parts.ts'
import { probeConnection } from '../../../daemon/runtime/ingest/connection/probe-connection.ts'
import { type ObjectSourceVariant, objectRequirements } from '../../conformance/object-source.ts'
import { type Azurite, azurite, azuriteRequirement } from '../../support/engines/azurite.ts'
import { issueServerCertificates, type ServerCertificateSet } from '../../support/engines/server-certificates.ts'
import { findFreePorts } from '../../support/engines/server-process.ts'
import { whenPresent } from '../../support/runner/requires.ts'

const where = whenPresent(azuriteRequirement)
const settings = { data_folder: undefined, trusted_networks: ['127.0.0.1'], addonDir: '' }
const container = 'objects'
let certificates: ServerCertificateSet
let server: Azurite
let closed_port = 0

beforeAll(async () => {
  if (!azuriteRequirement.isPresent) return
  certificates = issueServerCertificates('server')
  server = await azurite(certificates.of('server'), container)
  await server.start()
  closed_port = (await findFreePorts(1))[0] ?? 0
}, 120_000)
afterAll(async () => {
  await server?.end()
  certificates?.dispose()
})

type Change = {
  readonly config?: Readonly<Record<string, string | undefined>>
  readonly secret?: Readonly<Record<string, string>> | undefined
}

function connect({ config = {}, ...more }: Change = {}): OpenConnection {
  const usual = { account_url: server.url, container, ca: readFileSync(certificates.of('server').ca, 'utf8') }
  const all = Object.fromEntries(Object.entries({ ...usual, ...config }).filter(([, value]) => value !== undefined))
  const secret = 'secret' in more ? more.secret : { account_key: server.account_key }
  return {
    ...{ tenant_id: 'tenant', conn_type: 'azure_blob', config: all as OpenConnection['config'] },
    ...(secret && { secret: JSON.stringify(secret) }),
  }
}

function variant(): ObjectSourceVariant {
  const at = (origin: string) => ({ config: { account_url: `${origin}/acme` } })
  const wrong = randomBytes(32).toString('base64')
  const writeOnly = { sas_token: server.createSas('w') }
  return {
    ...{ connect: (prefix) => connect({ config: { prefix } }), settings },
    put: async (key, content) => await server.put(key, content),
    remove: async (key) => await server.request('DELETE', `/${key}`),
    strange_keys: [
      ...['a.csv', 'A.csv', 'a b+c%2F&?#=.csv', 'é/☃.csv', "it's (1)!*.csv", '%zz%00.csv', '<a>&amp;]]>.csv'],
      ...['$(id)`id`;x', '-rf', 'CON', `${'n'.repeat(1_000)}`, 'a//b'],
    ],
    hidden: [
      '127.0.0',
      String(closed_port),
      String(server.port),
      server.account_key,
      wrong,
      'tenant',
      writeOnly.sas_token,
    ],
    failing: {
      'a wrong key': [connect({ secret: { account_key: wrong } }), '(403 AuthorizationFailure)'],
      'a signature without the right': [connect({ secret: writeOnly }), '(403 AuthorizationPermissionMismatch)'],
      'a signature without TLS': [
        connect({ ...at(`http://127.0.0.1:${closed_port}`), secret: writeOnly }),
        'account_url must begin with https',
      ],
      'two secrets': [connect({ secret: { account_key: wrong, ...writeOnly } }), 'state one of them'],
      'no container': [connect({ config: { container: 'none' } }), 'no such container (404 ContainerNotFound)'],
      'an unknown authority': [connect({ config: { ca: undefined } }), 'no certificate that the connection trusts'],
      'no server': [connect(at(`https://127.0.0.1:${closed_port}`)), 'the server did not answer (ECONNREFUSED)'],
      'a private address': [connect(at('https://10.0.0.1')), 'does not permit the address'],
    },
  }
}

describe('azure_blob', () => {
  where.each(Object.entries(objectRequirements))('%s', (_, keep) => keep(variant()))
})

where('a shared access signature opens the container', async () => {
  const connection = connect({ secret: { sas_token: `?${server.createSas('rl')}` } })
  const tested = await probeConnection({ ...settings, probe: true, connection })
  expect(tested).toEqual({ ok: true, detail: 'a container whose blobs can be listed' })
})
