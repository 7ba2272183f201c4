// Certificates that change in their files: a sound pair is served, any other changes nothing and is logged once.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import type { ListenerTls } from '../../adapters/platform/http-server/listener-tls.ts'
import { createAuthority, issueCertificate } from '../../test/support/keys/site-certificates.ts'
import { followCertificates } from './follow-certificates.ts'

async function issuePairs(count: number): Promise<ListenerTls[]> {
  const folder = mkdtempSync(path.join(tmpdir(), 'follow-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  const authority = await createAuthority(folder, 'site')
  const issued = Array.from({ length: count }, (_, at) => issueCertificate(folder, authority, `listener-${at}`))
  return (await Promise.all(issued)).map(({ pem }) => ({ cert: pem, key: pem }))
}

function follow(running: ListenerTls, now = Date.now()) {
  const state: { files: ListenerTls | undefined; replaced: ListenerTls[]; events: unknown[] } = {
    ...{ files: running, replaced: [], events: [] },
  }
  const note = (event: string, fields?: unknown) => void state.events.push([event, fields])
  const look = followCertificates({
    listener: 'edge:tcp',
    running,
    read: () => state.files ?? expect.unreachable(),
    replace: (tls) => void state.replaced.push(tls),
    log: { debug: note, info: note, warn: note, error: note },
    now: () => now,
  })
  return { state, look }
}

test('a changed pair replaces the other once, for a further host name too', async () => {
  const [first, second, third] = (await issuePairs(3)) as [ListenerTls, ListenerTls, ListenerTls]
  const { state, look } = follow(first)
  look()
  expect(state.replaced).toEqual([])
  state.files = second
  look()
  look()
  const withHost = { ...second, hosts: [{ names: ['a.example'], cert: third.cert, key: third.key }] }
  state.files = withHost
  look()
  expect(state.replaced).toEqual([second, withHost])
  expect(state.events).toEqual(Array(2).fill(['listener.certificate.replaced', { listener: 'edge:tcp' }]))
})

test('a pair that does not match, has ended or cannot be read changes nothing', async () => {
  const [first, second] = (await issuePairs(2)) as [ListenerTls, ListenerTls]
  const later = follow(first, Date.now() + 400 * 86_400_000)
  later.state.files = second
  const mixed = follow(first)
  mixed.state.files = { cert: second.cert, key: first.key }
  for (const { look } of [mixed, mixed, later]) look()
  mixed.state.files = undefined
  mixed.look()
  mixed.state.files = first
  mixed.look()
  expect([...mixed.state.replaced, ...later.state.replaced]).toEqual([])
  const fault = (text: unknown) => ['listener.certificate.refused', { listener: 'edge:tcp', fault: text }]
  expect(mixed.state.events).toEqual([
    fault('the key is not the private key of the certificate'),
    fault('a file cannot be read'),
  ])
  expect(later.state.events).toEqual([fault(expect.stringMatching(/^the certificate ended on /))])
})

test('a pair that is served and has ended does not keep another from its renewal', async () => {
  const [first, second, third] = (await issuePairs(3)) as [ListenerTls, ListenerTls, ListenerTls]
  const hosts = [{ names: ['a.example'], cert: third.cert, key: third.key }]
  const { state, look } = follow({ ...first, hosts })
  state.files = { ...second, hosts }
  look()
  expect(state.replaced).toHaveLength(1)
  const ended = follow({ ...first, hosts }, Date.now() + 400 * 86_400_000)
  ended.look()
  expect(ended.state.events).toEqual([])
})
