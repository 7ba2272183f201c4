// The source of files of SharePoint against each requirement, at a server of the documented interface of Microsoft Graph.
import { execFileSync } from 'node:child_process'
import { createPublicKey } from 'node:crypto'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { OpenConnection } from '../../daemon/roles/ingest/parts.ts'
import { probeConnection } from '../../daemon/runtime/ingest/connection/probe-connection.ts'
import { downloadObject } from '../../daemon/runtime/ingest/object-store/download-object.ts'
import { openObjectSource } from '../../daemon/runtime/ingest/object-store/open-object-source.ts'
import { ObjectChangedError } from '../../daemon/shared/object-source/object-source.ts'
import { RowSourceError } from '../../daemon/shared/row-source/row-source.ts'
import { type ObjectSourceVariant, objectRequirements } from '../conformance/object-source.ts'
import { issueServerCertificates } from '../support/engines/server-certificates.ts'
import { graphLibrary } from '../support/ingest/graph-library.ts'
import { startTokenGate, type TokenGate } from '../support/ingest/token-gate.ts'

const settings = { data_folder: undefined, trusted_networks: ['127.0.0.1'], addonDir: '' }
const never = new AbortController().signal
const certificates = issueServerCertificates('server')
const files = certificates.of('server')
const ca = readFileSync(files.ca, 'utf8')
const client_secret = 'secret~of the app'
/** RSA, as the sign-in service takes it. */
const certificate = (() => {
  const words = [
    'req',
    '-x509',
    '-newkey',
    'rsa:2048',
    '-nodes',
    '-days',
    '2',
    '-subj',
    '/CN=app',
    '-keyout',
    '-',
    '-out',
    '-',
  ]
  return execFileSync('openssl', words, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] })
})()
const library = graphLibrary('/sites/exports', 'Documents')
let gate: TokenGate

beforeAll(async () => {
  const rule = {
    ...{ path: '/directory-1/oauth2/v2.0/token', open_path: '/download/' },
    public_key: createPublicKey(certificate).export({ type: 'spki', format: 'pem' }).toString(),
    refusal: (form: URLSearchParams, claims: { readonly iss?: string; readonly sub?: string } | undefined) => {
      if (form.get('client_id') !== 'app-1' || form.get('scope') !== `${gate.url}/.default`)
        return 'unauthorized_client'
      const isProven =
        form.get('client_secret') === client_secret || (claims?.iss === 'app-1' && claims.sub === 'app-1')
      return form.get('grant_type') === 'client_credentials' && isProven ? undefined : 'invalid_client'
    },
  }
  gate = await startTokenGate(files, rule, (request, response) => library.serve(gate.url, request, response))
})
afterAll(() => {
  gate?.close()
  certificates.dispose()
})

type Change = {
  readonly config?: Readonly<Record<string, string | undefined>>
  readonly secret?: Readonly<Record<string, string>>
}

function connect({ config = {}, secret = { client_secret } }: Change = {}): OpenConnection {
  const site = {
    site_url: `${gate.url}/sites/exports`,
    library: 'Documents',
    directory_id: 'directory-1',
    client_id: 'app-1',
  }
  const usual = { ...site, graph_url: gate.url, login_url: gate.url, ca }
  const all = Object.fromEntries(Object.entries({ ...usual, ...config }).filter(([, value]) => value !== undefined))
  return {
    ...{ tenant_id: 'acme', conn_type: 'sharepoint', config: all as OpenConnection['config'] },
    secret: JSON.stringify(secret),
  }
}

function variant(): ObjectSourceVariant {
  return {
    ...{ connect: (prefix) => connect({ config: { prefix } }), settings },
    put: async (key, content) => library.put(key, content),
    remove: async (key) => library.remove(key),
    // SharePoint takes no " * : < > ? / \ | in names, and its names do not differ by case alone.
    strange_keys: [
      'a.csv',
      'a b+c%2F&#=.csv',
      'é/☃.csv',
      "it's (1)!.csv",
      '%zz%00.csv',
      '$(id)`id`;x',
      '-rf',
      'CON',
      '..x',
    ],
    hidden: ['127.0.0', String(gate.port), client_secret, 'PRIVATE', 'acme', 'app-1', 'tempauth'],
    failing: {
      'a wrong secret': [connect({ secret: { client_secret: 'wrong' } }), '(400 invalid_client)'],
      'another application': [connect({ config: { client_id: 'app-2' } }), '(400 unauthorized_client)'],
      'no secret': [connect({ secret: {} }), 'state one of them'],
      'a certificate without its key': [
        connect({ secret: { certificate: ca } }),
        'is not a certificate and its private key',
      ],
      'no TLS': [connect({ config: { login_url: 'http://127.0.0.1:1' } }), 'must begin with https'],
      'no site': [connect({ config: { site_url: `${gate.url}/sites/none` } }), 'the server has no such site'],
      'no library': [connect({ config: { library: 'None' } }), 'has no library "None"; it has "Other", "Documents"'],
      'no folder': [connect({ config: { folder: 'none' } }), 'the library has no such folder'],
      'an unknown authority': [connect({ config: { ca: undefined } }), 'no certificate that the connection trusts'],
      'a private address': [connect({ config: { login_url: 'https://10.0.0.1' } }), 'does not permit the address'],
    },
  }
}

describe('sharepoint', () => {
  test.each(Object.entries(objectRequirements))('%s', (_, keep) => keep(variant()))
})

test('content that is replaced while it is read is not taken, also where the last request fails first', async () => {
  library.put('replaced/a.csv', 'id\n1\n')
  const source = await openObjectSource(connect(), settings)
  const pages = [await source.listPage('replaced/', undefined, never), await source.listPage('replaced/', '1', never)]
  const [object = expect.unreachable()] = pages.flatMap(({ objects }) => objects)
  const interrupted = {
    async *readObject(...words: Parameters<typeof source.readObject>) {
      yield* source.readObject(...words)
      library.put('replaced/a.csv', 'id\n2\n')
      throw new RowSourceError('the answer of the server broke off', false)
    },
    confirmObject: source.confirmObject?.bind(source) ?? expect.unreachable(),
  }
  const to = path.join(mkdtempSync(path.join(tmpdir(), 'sharepoint-')), 'staged')
  await expect(downloadObject(interrupted, object, to, never)).rejects.toThrow(ObjectChangedError)
  rmSync(path.dirname(to), { recursive: true })
  source.close()
})

test('an application proves itself by its certificate, and reads the files of a folder alone', async () => {
  library.put('in/deep/a.csv', 'id\n1\n')
  library.put('beside.csv', 'id\n2\n')
  library.link('linked.csv')
  const inside = connect({ config: { folder: '/in/' }, secret: { certificate } })
  expect(await probeConnection({ ...settings, probe: true, connection: inside })).toMatchObject({ ok: true })
  const source = await openObjectSource(inside, settings)
  const pages = [await source.listPage('', undefined, never), await source.listPage('', '1', never)]
  expect(pages.flatMap(({ objects }) => objects.map(({ key }) => key))).toEqual(['deep/a.csv'])
  source.close()
  const all = await openObjectSource(connect(), settings)
  const { objects } = await all.listPage('linked', undefined, never)
  expect(objects).toEqual([])
  all.close()
})
