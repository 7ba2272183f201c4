// The source of objects of Google Cloud Storage against each requirement, on an emulator behind a gate that takes the tokens of its endpoint alone.
import { generateKeyPairSync } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { afterAll, beforeAll, describe, expect } from 'vitest'
import type { OpenConnection } from '../../../daemon/roles/ingest/parts.ts'
import { openObjectSource } from '../../../daemon/runtime/ingest/object-store/open-object-source.ts'
import { type ObjectSourceVariant, objectRequirements } from '../../conformance/object-source.ts'
import { type FakeGcsServer, fakeGcsRequirement, fakeGcsServer } from '../../support/engines/fake-gcs-server.ts'
import { issueServerCertificates, type ServerCertificateSet } from '../../support/engines/server-certificates.ts'
import { findFreePorts } from '../../support/engines/server-process.ts'
import { startTokenGate, type TokenGate } from '../../support/ingest/token-gate.ts'
import { whenPresent } from '../../support/runner/requires.ts'

const where = whenPresent(fakeGcsRequirement)
const settings = { data_folder: undefined, trusted_networks: ['127.0.0.1'], addonDir: '' }
const bucket = 'objects'
const never = new AbortController().signal
const createKey = () =>
  generateKeyPairSync('rsa', {
    modulusLength: 2_048,
    publicKeyEncoding: { type: 'spki', format: 'pem' },
    privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
  })
const [own, other] = [createKey(), createKey()]
const client_email = 'reader@site.example'
let certificates: ServerCertificateSet
let server: FakeGcsServer
let gate: TokenGate
let closed_port = 0

beforeAll(async () => {
  if (!fakeGcsRequirement.isPresent) return
  certificates = issueServerCertificates('server')
  server = await fakeGcsServer(bucket)
  await server.start()
  const rule = {
    ...{ path: '/token', public_key: own.publicKey },
    refusal: (form: URLSearchParams, claims: { readonly iss?: string; readonly scope?: unknown } | undefined) => {
      if (form.get('grant_type') !== 'urn:ietf:params:oauth:grant-type:jwt-bearer') return 'unsupported_grant_type'
      const isReader = claims?.scope === 'https://www.googleapis.com/auth/devstorage.read_only'
      return claims?.iss === client_email && isReader ? undefined : 'invalid_grant'
    },
  }
  gate = await startTokenGate(certificates.of('server'), rule, server.port)
  closed_port = (await findFreePorts(1))[0] ?? 0
}, 120_000)
afterAll(async () => {
  gate?.close()
  await server?.end()
  certificates?.dispose()
})

type Change = {
  readonly config?: Readonly<Record<string, string | undefined>>
  /** Of the key file; undefined for none. */
  readonly key?: Readonly<Record<string, string>> | undefined
}

function connect({ config = {}, ...more }: Change = {}): OpenConnection {
  const usual = { bucket, endpoint: gate.url, ca: readFileSync(certificates.of('server').ca, 'utf8') }
  const all = Object.fromEntries(Object.entries({ ...usual, ...config }).filter(([, value]) => value !== undefined))
  const file = { type: 'service_account', client_email, private_key: own.privateKey, token_uri: `${gate.url}/token` }
  const isAnonymous = 'key' in more && more.key === undefined
  const service_account = JSON.stringify({ ...file, ...more.key })
  return {
    ...{ tenant_id: 'acme', conn_type: 'gcs', config: all as OpenConnection['config'] },
    ...(!isAnonymous && { secret: JSON.stringify({ service_account }) }),
  }
}

function variant(): ObjectSourceVariant {
  return {
    ...{ connect: (prefix) => connect({ config: { prefix } }), settings },
    put: (key, content) => server.put(key, content),
    remove: (key) => server.remove(key),
    strange_keys: [
      ...['a.csv', 'A.csv', 'a b+c%2F&?#=.csv', 'é/☃.csv', "it's (1)!*.csv", '%zz%00.csv', '<a>&amp;]]>.csv'],
      ...['$(id)`id`;x', '-rf', 'CON', `${'n'.repeat(1_000)}`, 'a//b', '../../up', './x', 'tab\tnul\u0001'],
    ],
    hidden: ['127.0.0', String(closed_port), String(gate.port), client_email, 'PRIVATE KEY', 'acme', 'assertion'],
    failing: {
      'another key': [connect({ key: { private_key: other.privateKey } }), '(400 invalid_grant)'],
      'another account': [connect({ key: { client_email: 'other@site.example' } }), '(400 invalid_grant)'],
      'no account': [connect({ key: undefined }), 'the server refuses the user or the secret (401)'],
      'a key that is none': [connect({ key: { private_key: 'none' } }), 'is not a key for RS256 as PEM'],
      'a key file of another kind': [connect({ key: { type: 'authorized_user' } }), 'is not a key file'],
      'a token endpoint without TLS': [
        connect({ key: { token_uri: `http://127.0.0.1:${closed_port}` } }),
        'https token_uri',
      ],
      'a store without TLS': [
        connect({ config: { endpoint: `http://127.0.0.1:${closed_port}` } }),
        'must begin with https',
      ],
      'a private token endpoint': [connect({ key: { token_uri: 'https://10.0.0.1/' } }), 'does not permit the address'],
      'no bucket': [connect({ config: { bucket: 'none' } }), 'the server has no such bucket (404)'],
      'an unknown authority': [connect({ config: { ca: undefined } }), 'no certificate that the connection trusts'],
      'no server': [
        connect({ config: { endpoint: `https://127.0.0.1:${closed_port}` } }),
        'did not answer (ECONNREFUSED)',
      ],
      'a private address': [connect({ config: { endpoint: 'https://10.0.0.1' } }), 'does not permit the address'],
    },
  }
}

describe('gcs', () => {
  where.each(Object.entries(objectRequirements))('%s', (_, keep) => keep(variant()))
})

where('one token serves many requests', async () => {
  const before = gate.issued.length
  const source = await openObjectSource(connect(), settings)
  for (const _ of ['one', 'two']) await source.listPage('none/', undefined, never)
  expect(gate.issued.length - before).toBe(1)
  source.close()
})
