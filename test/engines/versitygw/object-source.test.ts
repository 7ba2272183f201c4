// The source of objects of S3 against each requirement, on a real server that verifies signatures.
import { readFileSync } from 'node:fs'
import { afterAll, beforeAll, describe, expect } from 'vitest'
import type { OpenConnection } from '../../../daemon/roles/ingest/parts.ts'
import { probeConnection } from '../../../daemon/runtime/ingest/connection/probe-connection.ts'
import { type ObjectSourceVariant, objectRequirements } from '../../conformance/object-source.ts'
import { issueServerCertificates, type ServerCertificateSet } from '../../support/engines/server-certificates.ts'
import { findFreePorts } from '../../support/engines/server-process.ts'
import { type Versitygw, versitygw, versitygwRequirement } from '../../support/engines/versitygw.ts'
import { whenPresent } from '../../support/runner/requires.ts'

const where = whenPresent(versitygwRequirement)
const settings = { data_folder: undefined, trusted_networks: ['127.0.0.1', '127.0.0.3'], addonDir: '' }
const bucket = 'objects'
let certificates: ServerCertificateSet
let server: Versitygw
let closed_port = 0

beforeAll(async () => {
  if (!versitygwRequirement.isPresent) return
  certificates = issueServerCertificates('server')
  server = await versitygw(certificates.of('server'))
  await server.start()
  closed_port = (await findFreePorts(1))[0] ?? 0
  for (const name of [bucket, 'open']) await server.request('PUT', `/${name}`)
}, 120_000)
afterAll(async () => {
  await server?.end()
  certificates?.dispose()
})

type Change = {
  readonly config?: Readonly<Record<string, string | boolean | undefined>>
  readonly secret?: Readonly<Record<string, string>> | undefined
}

function connect({ config = {}, ...more }: Change = {}): OpenConnection {
  const ca = readFileSync(certificates.of('server').ca, 'utf8')
  const { url: endpoint, region, access_key_id, secret_access_key } = server
  const usual = { bucket, region, endpoint, access_key_id, path_style: true, ca }
  const all = Object.fromEntries(Object.entries({ ...usual, ...config }).filter(([, value]) => value !== undefined))
  const secret = 'secret' in more ? more.secret : { secret_access_key }
  return {
    ...{ tenant_id: 'acme', conn_type: 'aws_s3', config: all as OpenConnection['config'] },
    ...(secret && { secret: JSON.stringify(secret) }),
  }
}

function variant(): ObjectSourceVariant {
  const at = (host: string, port = new URL(server.url).port) => ({ config: { endpoint: `https://${host}:${port}` } })
  return {
    ...{ connect: (prefix) => connect({ config: { prefix } }), settings },
    put: async (key, content) => await server.put(bucket, key, content),
    remove: async (key) => await server.request('DELETE', `/${bucket}/${key}`),
    // The server itself keeps objects as files: no dots as a folder, and no control characters. See hostile-stores.test.ts.
    strange_keys: [
      ...['a.csv', 'A.csv', 'a b+c%2F&?#=.csv', 'é/☃.csv', "it's (1)!*.csv", '%zz%00.csv', '<a>&amp;]]>.csv'],
      ...['back\\slash', '$(id)`id`;', '-rf', 'CON', `${'n'.repeat(240)}/`.repeat(4)].map((key) => `${key}x`),
    ],
    hidden: ['127.0.0', String(closed_port), new URL(server.url).port, server.secret_access_key, 'wrong', 'acme'],
    failing: {
      'a wrong secret': [connect({ secret: { secret_access_key: 'wrong' } }), '(403 SignatureDoesNotMatch)'],
      'an unknown key': [connect({ config: { access_key_id: 'wrong' } }), '404 XAdminUserNotFound'],
      'a key without its secret': [connect({ secret: undefined }), 'state both, or neither'],
      'no key': [connect({ config: { access_key_id: undefined }, secret: undefined }), '(403 AccessDenied)'],
      'another region': [connect({ config: { region: 'us-west-9' } }), 'the server answered 400'],
      'no bucket': [connect({ config: { bucket: 'none' } }), 'the server has no such bucket (404 NoSuchBucket)'],
      'an unknown authority': [connect({ config: { ca: undefined } }), 'no certificate that the connection trusts'],
      'another name': [connect(at('127.0.0.3')), 'trusts (ERR_TLS_CERT_ALTNAME_INVALID)'],
      'no server': [connect(at('127.0.0.1', String(closed_port))), 'the server did not answer (ECONNREFUSED)'],
      'a private address': [connect(at('10.0.0.1')), 'does not permit the address'],
    },
  }
}

describe('aws_s3', () => {
  where.each(Object.entries(objectRequirements))('%s', (_, keep) => keep(variant()))
})

where('a bucket that is open to everyone is read without a key', async () => {
  const statement = {
    ...{ Effect: 'Allow', Principal: '*', Action: ['s3:GetObject', 's3:ListBucket'] },
    Resource: ['arn:aws:s3:::open', 'arn:aws:s3:::open/*'],
  }
  const policy = JSON.stringify({ Version: '2012-10-17', Statement: [statement] })
  expect(await server.request('PUT', '/open?policy', policy)).toMatchObject({ status: 204 })
  const connection = connect({ config: { bucket: 'open', access_key_id: undefined }, secret: undefined })
  const tested = await probeConnection({ ...settings, probe: true, connection })
  expect(tested).toEqual({ ok: true, detail: 'a bucket whose objects can be listed' })
})
