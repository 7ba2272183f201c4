// The certificate of a packaged door that speaks TLS: renewed while callers are connected, and refused whole where it is unsound.
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { connect, type TLSSocket } from 'node:tls'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { type Authority, aCertificate, anAuthority } from '../support/certificates.ts'
import type { Served } from '../support/packaged-site.ts'
import { type Door, publicDoor, recorded } from '../support/public-door.ts'

let door: Door
let served: Served | undefined
let authority: Authority
let sockets: TLSSocket[]
beforeEach(() => {
  sockets = []
})
afterEach(async () => {
  for (const socket of sockets) socket.destroy()
  await served?.stop()
  await door?.close()
  served = undefined
})

type Written = Awaited<ReturnType<typeof aCertificate>>

const file = (name: string) => join(door.site.dir, '..', name)

async function openWith(name: string): Promise<Written> {
  door = await publicDoor(['GET /api/v1/report'])
  const folder = join(door.site.dir, '..')
  authority = await anAuthority(folder, 'house')
  const first = await aCertificate(folder, authority, name)
  put(first)
  const files = { tls_cert_file: file('door-cert.pem'), tls_key_file: file('door-key.pem') }
  const lines = Object.entries(files).map(([setting, path]) => `  ${setting}: ${path}\n`)
  door.site.edit('proxy:\n', `proxy:\n${lines.join('')}`)
  served = await door.serve()
  return first
}

/** `of`: whose key. */
function put(certificate: Written, of = certificate): void {
  const parts = ({ pem }: Written) => pem.split(/(?=-----BEGIN PRIVATE KEY)/)
  writeFileSync(file('door-cert.pem'), parts(certificate)[0] ?? '')
  writeFileSync(file('door-key.pem'), parts(of)[1] ?? '', { mode: 0o600 })
}

/** A caller who stays connected. */
function caller() {
  const socket = connect({
    ...{ port: served?.ports.proxy ?? 0, host: '127.0.0.1', servername: 'localhost', ca: authority.certificate },
  })
  sockets.push(socket)
  let text = ''
  socket.setEncoding('latin1').on('data', (some: string) => {
    text += some
  })
  return {
    /** How many were answered well, on this connection. */
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

async function serialShown(): Promise<string> {
  const somebody = caller()
  await somebody.ask()
  return somebody.serial()
}

const reload = () => door.site.run(['proxy', 'reload', '--json'], door.env)

test('a renewed certificate is shown to whoever comes next, and nobody who is connected is cut off', async () => {
  await openWith('first')
  const early = Array.from({ length: 6 }, caller)
  for (const each of early) await each.ask()
  const before = early[0]?.serial()
  put(await aCertificate(join(door.site.dir, '..'), authority, 'second'))
  expect(JSON.parse(reload().stdout)).toEqual({
    ...{ applied: ['proxy.tls_cert_file', 'proxy.tls_key_file'], needs_restart: [], rules: 1 },
  })
  // Every thread shows it: six callers are likely to meet both of the two, and each must be told the same.
  const shown = new Set<string>()
  for (let at = 0; at < 6; at += 1) shown.add(await serialShown())
  expect(shown.size).toBe(1)
  expect(shown).not.toContain(before)
  for (const each of early) expect([await each.ask(), each.isOpen()]).toEqual([2, true])
  expect(JSON.parse(reload().stdout)).toMatchObject({ applied: [] })
  await recorded(door, 18)
})

test('a pair that is none changes nothing, and neither does what else the profile says by then', async () => {
  const first = await openWith('first')
  const folder = join(door.site.dir, '..')
  const before = await serialShown()
  const other = await aCertificate(folder, authority, 'other')
  const ended = await aCertificate(folder, authority, 'ended', { not_after: Date.now() - 1_000 })
  door.site.edit('["GET /api/v1/report"]', '["GET /api/v1/report", "GET /api/v1/new"]')
  const unsound: [put: () => void, says: RegExp][] = [
    [() => put(other, first), /not the private key/],
    [() => put(ended), /ended on/],
    [() => writeFileSync(file('door-cert.pem'), 'no certificate'), /no certificate that can be read/],
    [() => writeFileSync(file('door-cert.pem'), ''), /no certificate that can be read/],
  ]
  for (const [write, says] of unsound) {
    write()
    const refused = reload()
    expect(refused.status).not.toBe(0)
    expect(refused.stderr + refused.stdout).toMatch(says)
    expect(refused.stderr + refused.stdout).not.toContain('BEGIN')
    expect(await serialShown()).toBe(before)
  }
  put(other)
  served?.signal('SIGHUP')
  await expect.poll(serialShown, { timeout: 20_000 }).not.toBe(before)
  expect(JSON.parse(reload().stdout)).toEqual({ applied: [], needs_restart: [], rules: 2 })
})
