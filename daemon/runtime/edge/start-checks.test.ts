// Settings with which the edge does not start: each problem names its setting, and what is wrong with its files.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { createAuthority, issueCertificate } from '../../../test/support/keys/site-certificates.ts'
import { resolveProfileSettings } from '../../boot/profile.ts'
import { roles } from '../../roles.ts'
import { findEdgeStartProblems } from './start-checks.ts'

const listProblems = (edge: Readonly<Record<string, unknown>>) =>
  findEdgeStartProblems(resolveProfileSettings(roles, { platform: { name: 'a', tenant_id: 'a' }, edge }, {}, {}, '/'))

test('files must be there, hold what they are named for, and match', async () => {
  const folder = mkdtempSync(path.join(tmpdir(), 'edge-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  const authority = await createAuthority(folder, 'site')
  const write = (name: string, text: string) => {
    writeFileSync(path.join(folder, name), text, { mode: 0o600 })
    return path.join(folder, name)
  }
  const [first, second] = [
    await issueCertificate(folder, authority, 'a'),
    await issueCertificate(folder, authority, 'b'),
  ]
  const files = [write('a.pem', first.pem), write('b.pem', second.pem), write('empty.pem', '')]
  const [own = '', other = '', empty = ''] = files
  const pair = (cert_file: string, key_file: string) => ({ hosts: ['a.example'], cert_file, key_file })
  const certificates = [pair(own, own), pair(own, other), pair(empty, own), pair('/absent', own)]
  expect(listProblems({ certificates, backend_ca_file: own })).toEqual([
    { path: 'edge.certificates.1', message: expect.stringContaining('not the private key of the certificate') },
    { path: 'edge.certificates.2', message: expect.stringContaining('no readable certificate') },
    { path: 'edge.certificates.3', message: expect.stringContaining('cannot both be read') },
  ])
  for (const backend_ca_file of [empty, '/absent'])
    expect(listProblems({ backend_ca_file })).toMatchObject([{ path: 'edge.backend_ca_file' }])
})

test('redirects to a port that is free to choose need the one that clients use', () => {
  const tls = { tls_cert_file: '/a', tls_key_file: '/a' }
  expect(listProblems({ port: 0, ...tls })).toMatchObject([{ path: 'edge.https_port' }])
  for (const fine of [{ port: 0 }, { port: 0, ...tls, https_port: 443 }, { port: 8_443, ...tls }])
    expect(listProblems(fine)).toEqual([])
})
