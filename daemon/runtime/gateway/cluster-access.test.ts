// Kubeconfigs that the gateway takes, and why it refuses the others; no reason quotes a secret.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { findPodAccess, readKubeconfig } from './cluster-access.ts'

const folder = mkdtempSync(path.join(tmpdir(), 'kubeconfig-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))
const secret = 'a-secret-token'

type Section = Readonly<Record<string, unknown>>

function write(cluster: Section = {}, user: Section = { token: secret }, more: Section = {}): string {
  const file = path.join(folder, `${Math.random()}.yaml`)
  const config = {
    'current-context': 'main',
    contexts: [
      { name: 'other', context: { cluster: 'none', user: 'none' } },
      { name: 'main', context: { cluster: 'one', user: 'ann', namespace: 'platform' } },
    ],
    clusters: [{ name: 'one', cluster: { server: 'https://10.0.0.1:6443/', ...cluster } }],
    users: [{ name: 'ann', user }],
    ...more,
  }
  writeFileSync(file, JSON.stringify(config))
  return file
}

async function read(file: string) {
  const found = readKubeconfig(file)
  if ('fault' in found) throw new Error(found.fault)
  const { server, namespace } = found
  return { server, namespace, ...(await found.readCredentials()) }
}

test('authorities and token in the file, or in files beside it, which are read again each time', async () => {
  const data = Buffer.from('PEM').toString('base64')
  expect(await read(write({ 'certificate-authority-data': data }))).toEqual({
    ...{ server: 'https://10.0.0.1:6443', namespace: 'platform', ca: 'PEM', token: secret },
  })
  writeFileSync(path.join(folder, 'ca.pem'), 'PEM of a file')
  writeFileSync(path.join(folder, 'token'), 'first\n')
  const found = readKubeconfig(write({ 'certificate-authority': 'ca.pem' }, { tokenFile: 'token' }))
  if ('fault' in found) throw new Error(found.fault)
  expect(await found.readCredentials()).toEqual({ ca: 'PEM of a file', token: 'first' })
  writeFileSync(path.join(folder, 'token'), 'second\n')
  expect(await found.readCredentials()).toMatchObject({ token: 'second' })
  writeFileSync(path.join(folder, 'token'), 'two\nlines')
  await expect(found.readCredentials()).rejects.toThrow('has no token')
})

test.each<[string, () => string, RegExp]>([
  ['a missing file', () => path.join(folder, 'missing'), /^cannot be read \(ENOENT\)$/],
  ['http', () => write({ server: 'http://10.0.0.1' }), /server must be https$/],
  ['an unchecked certificate', () => write({ 'insecure-skip-tls-verify': true }), /must be false$/],
  ['no such context', () => write({}, { token: secret }, { 'current-context': 'gone' }), /has no context gone/],
  ['no such user', () => write({}, {}, { users: [] }), /no cluster one or no user ann/],
  [
    'a user by a program',
    () => write({}, { exec: { command: 'rm' } }),
    /has no token and no tokenFile for the user ann/,
  ],
  ['a token that is not text', () => write({}, { token: [secret] }), /users\.0\.user\.token/],
])('%s is refused', (_, create, reason) => {
  const found = readKubeconfig(create())
  expect('fault' in found && found.fault).toMatch(reason)
  expect(JSON.stringify(found)).not.toContain(secret)
})

test('text that is not YAML is refused', () => {
  const file = path.join(folder, 'broken.yaml')
  writeFileSync(file, `a: [${secret}`)
  expect(readKubeconfig(file)).toEqual({ fault: 'is not YAML' })
})

test('outside of a pod the profile must name a kubeconfig', () =>
  expect(findPodAccess()).toEqual({ fault: expect.stringContaining('needs ingress.managed.kubeconfig_file') }))
