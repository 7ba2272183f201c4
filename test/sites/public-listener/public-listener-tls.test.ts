// The certificate of a packaged proxy that speaks TLS: renewed while callers are connected, and refused whole where it is unsound.
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { connect, type TLSSocket } from 'node:tls'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { createAuthority, issueCertificate, type SiteAuthority } from '../../support/keys/site-certificates.ts'
import { type PackagedProxy, waitForRecords } from '../../support/proxy/packaged-proxy.ts'
import { createTestProxy } from '../../support/proxy/test-proxy.ts'
import type { ServedSite } from '../../support/site/packaged-site.ts'

let proxy: PackagedProxy
let served: ServedSite
let authority: SiteAuthority
let sockets: TLSSocket[]
beforeEach(() => {
  sockets = []
})
afterEach(async () => {
  for (const socket of sockets) socket.destroy()
})

type IssuedCertificate = Awaited<ReturnType<typeof issueCertificate>>

const formatPath = (name: string) => join(proxy.site.dir, '..', name)

async function openWithCertificate(name: string): Promise<IssuedCertificate> {
  proxy = await createTestProxy(['GET /api/v1/report'])
  const folder = join(proxy.site.dir, '..')
  authority = await createAuthority(folder, 'house')
  const first = await issueCertificate(folder, authority, name)
  installCertificate(first)
  const files = { tls_cert_file: formatPath('door-cert.pem'), tls_key_file: formatPath('door-key.pem') }
  const lines = Object.entries(files).map(([setting, path]) => `  ${setting}: ${path}\n`)
  proxy.site.edit('proxy:\n', `proxy:\n${lines.join('')}`)
  served = await proxy.serve()
  return first
}

/** `of`: whose key. */
function installCertificate(certificate: IssuedCertificate, of = certificate): void {
  const parts = ({ pem }: IssuedCertificate) => pem.split(/(?=-----BEGIN PRIVATE KEY)/)
  writeFileSync(formatPath('door-cert.pem'), parts(certificate)[0] ?? '')
  writeFileSync(formatPath('door-key.pem'), parts(of)[1] ?? '', { mode: 0o600 })
}

/** A caller who stays connected. */
function connectCaller() {
  const socket = connect({
    ...{ port: served.ports.proxy ?? 0, host: '127.0.0.1', servername: 'localhost', ca: authority.certificate },
  })
  sockets.push(socket)
  let text = ''
  socket.setEncoding('latin1').on('data', (some: string) => {
    text += some
  })
  return {
    /** Sends a request on this connection; returns the number of good answers before it. */
    async ask() {
      const before = text.split('HTTP/1.1 200').length
      socket.write('GET /public-api/api/v1/report HTTP/1.1\r\nHost: a\r\nX-Forwarded-For: 192.0.2.1\r\n\r\n')
      await expect.poll(() => text.split('HTTP/1.1 200').length, { timeout: 20_000 }).toBe(before + 1)
      return before
    },
    serial: () => socket.getPeerCertificate().serialNumber,
    isOpen: () => !socket.destroyed,
  }
}

async function readServedSerial(): Promise<string> {
  const somebody = connectCaller()
  await somebody.ask()
  return somebody.serial()
}

const reloadProxy = () => proxy.site.run(['proxy', 'reload', '--json'], proxy.env)

test('shows a renewed certificate to the next caller, and cuts off nobody who is connected', async () => {
  await openWithCertificate('first')
  const early = Array.from({ length: 6 }, connectCaller)
  for (const each of early) await each.ask()
  const before = early[0]?.serial()
  installCertificate(await issueCertificate(join(proxy.site.dir, '..'), authority, 'second'))
  expect(JSON.parse(reloadProxy().stdout)).toEqual({
    ...{ applied: ['proxy.tls_cert_file', 'proxy.tls_key_file'], needs_restart: [], rules: 1 },
  })
  // Every thread shows it: six callers are likely to meet both of the two, and each must see the same.
  const shown = new Set<string>()
  for (let at = 0; at < 6; at += 1) shown.add(await readServedSerial())
  expect(shown.size).toBe(1)
  expect(shown).not.toContain(before)
  for (const each of early) expect([await each.ask(), each.isOpen()]).toEqual([2, true])
  expect(JSON.parse(reloadProxy().stdout)).toMatchObject({ applied: [] })
  await waitForRecords(proxy, 18)
})

test('a pair that is none changes nothing, and neither does what else the profile says by then', async () => {
  const first = await openWithCertificate('first')
  const folder = join(proxy.site.dir, '..')
  const before = await readServedSerial()
  const other = await issueCertificate(folder, authority, 'other')
  const ended = await issueCertificate(folder, authority, 'ended', { not_after: Date.now() - 1_000 })
  proxy.site.edit('["GET /api/v1/report"]', '["GET /api/v1/report", "GET /api/v1/new"]')
  const unsound: [put: () => void, says: RegExp][] = [
    [() => installCertificate(other, first), /not the private key/],
    [() => installCertificate(ended), /ended on/],
    [() => writeFileSync(formatPath('door-cert.pem'), 'no certificate'), /no readable certificate/],
    [() => writeFileSync(formatPath('door-cert.pem'), ''), /no readable certificate/],
  ]
  for (const [write, says] of unsound) {
    write()
    const refused = reloadProxy()
    expect(refused.exit).not.toBe(0)
    expect(refused.stderr + refused.stdout).toMatch(says)
    expect(refused.stderr + refused.stdout).not.toContain('BEGIN')
    expect(await readServedSerial()).toBe(before)
  }
  installCertificate(other)
  served.signal('SIGHUP')
  await expect.poll(readServedSerial, { timeout: 20_000 }).not.toBe(before)
  expect(JSON.parse(reloadProxy().stdout)).toEqual({ applied: [], needs_restart: [], rules: 2 })
})
