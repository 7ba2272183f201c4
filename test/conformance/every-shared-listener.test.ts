// Runs each requirement of a listener that serves operations and forwards, for each protocol; and bytes that mix both kinds.
import { X509Certificate } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import https from 'node:https'
import { tmpdir } from 'node:os'
import path from 'node:path'
import fc from 'fast-check'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { readRoutedPath } from '../../adapters/serve/http/method-lookup.ts'
import { manualCoarseClock } from '../support/clock/manual-coarse-clock.ts'
import { startForwarder } from '../support/forward/test-forwarder.ts'
import { formatRawRequest, sendRawHttp } from '../support/http/send-raw-http.ts'
import { createAuthority, issueCertificate } from '../support/keys/site-certificates.ts'
import { startRawUpstream } from '../support/proxy/raw-upstream.ts'
import { createRawClient } from '../support/proxy/test-data-listener.ts'
import { testSharedListeners } from './forward-variants.ts'
import { sharedListenerRequirements } from './shared-listener.ts'

testSharedListeners(sharedListenerRequirements)

const openResources: { close(): unknown }[] = []
afterEach(async () => {
  for (const one of openResources.splice(0)) await one.close()
})

/** Answers every request with its path. */
async function startMixed() {
  const server = await startRawUpstream(({ socket, text }) => {
    const [, path = ''] = /([^ ]+) HTTP\/1\.1\r\n(?:(?!HTTP\/1\.1)[\s\S])*$/.exec(text) ?? []
    socket.write(`HTTP/1.1 200 OK\r\nContent-Length: ${path.length}\r\n\r\n${path}`)
  })
  openResources.push(server)
  const forwarder = await startForwarder({
    ...{ port: server.port, clock: manualCoarseClock(), isShared: true },
    listener: { offersWebSocket: true },
  })
  openResources.unshift(forwarder)
  const client = await createRawClient(forwarder.port, { staysOpen: true })
  openResources.unshift({ close: () => client.socket.destroy() })
  return { client, server, forwarder }
}

const get = (path: string, more = '') => `GET ${path} HTTP/1.1\r\nHost: a\r\n${more}\r\n`
const hidden = get('/smuggled')
const hiddenOperation = get('/echo/smuggled', 'Authorization: Bearer alice.admin\r\n')

describe('one connection', () => {
  test('carries both kinds in turn, and stays open', async () => {
    const { client } = await startMixed()
    for (const [path, answer] of [
      ['/a', '/a'],
      ['/open', 'anonymous'],
      ['/b', '/b'],
      ['/open', 'anonymous'],
    ] as const) {
      const before = client.text.length
      client.send(get(path))
      await client.waitFor(new RegExp(`^.{${before}}HTTP/1\\.1 200 .*\\r\\n\\r\\n.*${answer}`, 's'))
    }
    expect(client.isClosed).toBe(false)
    expect(client.text).not.toMatch(/connection: close/i)
  })

  test('answers requests of both kinds that were sent ahead in their order', async () => {
    const { client } = await startMixed()
    client.send(get('/a') + get('/open') + get('/b') + get('/open') + get('/c'))
    await client.waitFor(/\/a[\s\S]*anonymous[\s\S]*\/b[\s\S]*anonymous[\s\S]*\/c$/)
    expect(client.text.match(/HTTP\/1\.1 200/g)).toHaveLength(5)
  })
})

/** A letter as itself, percent-encoded once or twice, or between characters that routers treat in different ways. */
const spelledLetter = (letter: string) => {
  const code = letter.charCodeAt(0).toString(16)
  return fc.oneof(
    { weight: 9, arbitrary: fc.constantFrom(letter, `%${code}`, `%${code.toUpperCase()}`) },
    {
      weight: 1,
      arbitrary: fc.constantFrom(
        ...[letter.toUpperCase(), `%25${code}`, `${letter};`, `${letter}/.`],
        ...[`${letter}%2f`, `${letter}#`, `${letter}?`, `${letter}%`, `${letter}%00`],
      ),
    },
  )
}
const spelledTarget = fc
  .tuple(
    fc.constantFrom('/', '/', '/', 'http://a/', '//', '/./', '/%2f', 'http://a//', '/a/../'),
    ...[...'open'].map(spelledLetter),
  )
  .map((parts) => parts.join(''))

test('no spelling of a path is an operation to GET and forwarded by another method', async () => {
  const { forwarder } = await startMixed()
  const send = (line: string) => sendRawHttp({ port: forwarder.port }, formatRawRequest(line))
  const seen = { operation: 0, forwarded: 0, refused: 0 }
  for (const target of fc.sample(spelledTarget, { numRuns: 200, seed: 68 })) {
    const [got, deleted] = [await send(`GET ${target}`), await send(`DELETE ${target}`)]
    const isOperation = got.status === 200 && got.body.includes('anonymous')
    const kind = isOperation ? 'operation' : got.status === 200 ? 'forwarded' : 'refused'
    seen[kind] += 1
    expect([target, deleted.status]).toEqual([target, isOperation ? 405 : got.status])
  }
  expect(Object.values(seen).every((count) => count > 0)).toBe(true)
})

/** Bytes in which a second request hides, and the statuses that answer them. */
const attacks: readonly (readonly [name: string, bytes: string, statuses: readonly string[]])[] = [
  [
    'in the body of an operation that is refused by its head',
    `POST /any HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nContent-Length: ${hidden.length}\r\n\r\n${hidden}`,
    ['401'],
  ],
  [
    'after such a body, which is not whole',
    `POST /any HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nContent-Length: 5\r\n\r\n{}${hidden}`,
    ['401'],
  ],
  ['in the body of GET of an operation', get('/open', `Content-Length: ${hidden.length}\r\n`) + hidden, ['400']],
  ['in the body of GET of another path', get('/a', `Content-Length: ${hidden.length}\r\n`) + hidden, ['400']],
  [
    'in the body of an operation without that method',
    `DELETE /open HTTP/1.1\r\nHost: a\r\nContent-Length: ${hidden.length}\r\n\r\n${hidden}`,
    ['405'],
  ],
  [
    'after a length and chunks',
    `POST /any HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n${hidden}`,
    ['400'],
  ],
  ['after a length in the spelling of gateways', get('/open', 'Content_Length: 5\r\n') + hidden, ['400']],
  ['after two hosts', get('/open', 'Host: b\r\n') + hidden, ['400']],
  [
    'in the body that an operation was to continue with',
    `POST /any HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nExpect: 100-continue\r\nContent-Length: ${hidden.length}\r\n\r\n${hidden}`,
    ['401'],
  ],
  [
    'after a handshake of WebSocket at an operation',
    get(
      '/open',
      'Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n',
    ) + hidden,
    ['200'],
  ],
  [
    'after an upgrade to HTTP/2 at an operation',
    get('/open', 'Connection: Upgrade\r\nUpgrade: h2c\r\n') + hidden,
    ['200'],
  ],
  ['after a tunnel to an operation', `CONNECT /open HTTP/1.1\r\nHost: a\r\n\r\n${hidden}`, ['400']],
]

describe('a request that hides', () => {
  test.each(attacks)('%s is neither performed nor forwarded', async (_name, bytes, statuses) => {
    const { client, server, forwarder } = await startMixed()
    client.send(bytes)
    await client.waitFor(/\r\n\r\n/)
    client.send(hidden + hiddenOperation)
    client.socket.end()
    await client.waitForClose()
    expect(client.text.match(/(?<=HTTP\/1\.1 )\d+/g)).toEqual(statuses)
    expect([server.lines(), forwarder.echo.controls.verified]).toEqual([[], []])
  })

  test('in the rest of a body that is forwarded, after an early answer, is not performed', async () => {
    const { client, server, forwarder } = await startMixed()
    client.send(`POST /a HTTP/1.1\r\nHost: a\r\nContent-Length: ${hiddenOperation.length + 1}\r\n\r\nx`)
    await client.waitFor(/200 OK/)
    client.send(hiddenOperation + hiddenOperation)
    client.socket.end()
    await client.waitForClose()
    expect(client.text.match(/HTTP\/1\.1/g)).toHaveLength(1)
    expect(server.lines()).toEqual(['POST /a HTTP/1.1'])
    expect(forwarder.echo.controls.verified).toEqual([])
  })

  test.each(['Authorization: Bearer bob.none\r\n', 'authorization: Bearer \r\n'])(
    'a second credential (%s) is not overlooked',
    async (second) => {
      const { client } = await startMixed()
      client.send(get('/echo/a', `Authorization: Bearer alice.admin\r\n${second}`))
      await client.waitFor(/^HTTP\/1\.1 401 /)
    },
  )
})

describe('a client certificate', () => {
  let folder: string
  beforeEach(() => {
    folder = mkdtempSync(path.join(tmpdir(), 'shared-'))
  })
  afterEach(() => rmSync(folder, { recursive: true }))

  async function startWithAuthority(isCertificateOptional: boolean) {
    const authority = await createAuthority(folder, 'site')
    const { pem } = await issueCertificate(folder, authority, 'listener')
    const { pem: client } = await issueCertificate(folder, authority, 'alice')
    const server = await startRawUpstream(({ socket }) => {
      socket.write('HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n')
    })
    openResources.push(server)
    const ca = authority.certificate
    const forwarder = await startForwarder({
      ...{ port: server.port, clock: manualCoarseClock(), isShared: true },
      listener: { tls: { cert: pem, key: pem, ca, isCertificateOptional } },
    })
    openResources.unshift(forwarder)
    const options = { host: '127.0.0.1', port: forwarder.port, ca, servername: 'localhost', agent: false as const }
    const send = (more: { cert?: string; key?: string }) =>
      new Promise<number | undefined>((resolve, reject) => {
        https.get({ ...options, ...more, path: '/a' }, ({ statusCode }) => resolve(statusCode)).on('error', reject)
      })
    return { send, client, forwarder }
  }

  test('is required where the listener requires it, and reaches what is forwarded', async () => {
    const { send, client, forwarder } = await startWithAuthority(false)
    await expect(send({})).rejects.toThrow()
    expect(forwarder.presented).toEqual([])
    expect(await send({ cert: client, key: client })).toBe(200)
    const der = new X509Certificate(client).raw
    expect(forwarder.presented).toMatchObject([{ bearer: undefined, certificate: { der }, isLocal: false }])
    expect(forwarder.presented[0]?.certificate?.fault).toBeUndefined()
  })

  test('may be left out where it is optional', async () => {
    const { send, forwarder } = await startWithAuthority(true)
    expect(await send({})).toBe(200)
    expect(forwarder.presented).toEqual([{ bearer: undefined, certificate: undefined, isLocal: false }])
  })
})

test.each([
  ['/open?x#y', '/open'],
  ['/%6fpen', '/open'],
  ['/a%2Fb', '/a%2Fb'],
  ['http://a/open?b', '/open'],
  ['*', undefined],
  ['/%e0', undefined],
])('the routed path of %s is %s', (target, routed) => expect(readRoutedPath(target)).toBe(routed))
