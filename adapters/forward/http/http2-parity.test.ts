// Any byte at any place of a head: HTTP/2 serves nothing that HTTP/1.1 refuses, and serves it as the same request.
import { mkdtempSync, rmSync } from 'node:fs'
import { METHODS } from 'node:http'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import type { Exchange } from '../../../daemon/kernel/forward/exchange.ts'
import {
  type FieldList,
  type FrameClient,
  frameClient,
  hpackFields,
  requestFrame,
} from '../../../test/support/forward/http2-frames.ts'
import { createAuthority, issueCertificate } from '../../../test/support/keys/site-certificates.ts'
import {
  closeDataListeners,
  startDataListener,
  type TestDataListener,
} from '../../../test/support/proxy/test-data-listener.ts'
import { pollOptions } from '../../../test/support/proxy/upstream-fixture.ts'
import { defaultHttp2Limits } from './limits.ts'

/** A head without a body. */
type Head = { readonly method: string; readonly target: string; readonly host: string; readonly more: FieldList }

const plain: Head = { method: 'GET', target: '/a', host: 'a', more: [] }
const field = (name: string, value: string): Head => ({ ...plain, more: [[name, value]] })

const bytes = Array.from({ length: 256 }, (_, code) => String.fromCharCode(code))
const heads: readonly (readonly [place: string, heads: readonly Head[]])[] = [
  [
    'a method',
    [...METHODS, ...METHODS.map((method) => method.toLowerCase()), 'Get', 'FOO', 'GET-', '', 'A'.repeat(100)].map(
      (method) => ({ ...plain, method }),
    ),
  ],
  ['a byte of the method', bytes.map((byte) => ({ ...plain, method: `P${byte}T` }))],
  [
    'a target',
    ['', '*', 'a', '?a', '//a', '/a?b', '/a#b', 'http://a/b', 'a:443', '/%', '/..'].flatMap((target) => [
      { ...plain, target },
      { ...plain, method: 'OPTIONS', target },
    ]),
  ],
  ['a byte of the target', bytes.map((byte) => ({ ...plain, target: `/a${byte}b` }))],
  ['a byte of the host', bytes.map((byte) => ({ ...plain, host: `a${byte}b` }))],
  ['a byte of a name', bytes.map((byte) => field(`x${byte}y`, '1'))],
  [
    'a byte of a value',
    bytes.flatMap((byte) => [
      field('x', `a${byte}b`),
      field('x', `${byte}a`),
      field('x', `a${byte}`),
      field('x', byte),
    ]),
  ],
  [
    'a field of framing',
    ['0', '00', '1', '+0', '-0', '0x0', ' 0', '0,0', ''].map((value) => field('content-length', value)),
  ],
  [
    'a field of one connection',
    [
      'connection',
      'keep-alive',
      'proxy-connection',
      'te',
      'transfer-encoding',
      'upgrade',
      'expect',
      'content_length',
      'transfer_encoding',
    ].flatMap((name) => ['', 'x', 'chunked', 'trailers', '100-continue'].map((value) => field(name, value))),
  ],
]

/** What the handler sees; undefined for a request that is refused. */
type ServedRequest =
  | { readonly method: string; readonly target: string; readonly fields: readonly string[] }
  | undefined

let folder: string
let ca: string
let server: TestDataListener
let plainServer: TestDataListener
let client: FrameClient
let streams = 0

beforeAll(async () => {
  folder = mkdtempSync(path.join(tmpdir(), 'http2-parity-'))
  const authority = await createAuthority(folder, 'site')
  const { pem } = await issueCertificate(folder, authority, 'listener')
  ca = authority.certificate
  const reply = (exchange: Exchange) => exchange.reply(exchange.fault?.status ?? 200, [])
  const http2 = { ...defaultHttp2Limits, abandoned_streams: 1_000_000 }
  server = await startDataListener(reply, { tls: { cert: pem, key: pem }, http2 })
  plainServer = await startDataListener(reply)
  client = await frameClient(server.listener.port, ca)
})
afterAll(async () => {
  client.socket.destroy()
  await closeDataListeners()
  rmSync(folder, { recursive: true })
})

const servedRequest = (exchange: Exchange | undefined): ServedRequest =>
  exchange && !exchange.fault
    ? {
        method: exchange.method,
        target: exchange.target,
        fields: exchange.rawHeaders.map((text, at) => (at % 2 === 0 ? text.toLowerCase() : text)),
      }
    : undefined

async function sendHttp2({ method, target, host, more }: Head, scheme = 'https'): Promise<ServedRequest> {
  if (client.isClosed) client = await frameClient(server.listener.port, ca)
  const before = server.exchanges.length
  const id = streams++ * 2 + 1
  const pseudo: FieldList = [
    [':method', method],
    [':scheme', scheme],
    [':authority', host],
    [':path', target],
  ]
  client.send(requestFrame(id, hpackFields([...pseudo, ...more])))
  await vi.waitFor(
    () => expect(client.isClosed || client.frames.some(({ stream }) => stream === id)).toBe(true),
    pollOptions,
  )
  client.frames.length = 0
  return servedRequest(server.exchanges[before])
}

async function sendHttp1({ method, target, host, more }: Head): Promise<ServedRequest> {
  const before = plainServer.exchanges.length
  const fields = more.map(([name, value]) => `${name}: ${value}\r\n`).join('')
  const sender = await plainServer.client(`${method} ${target} HTTP/1.1\r\nHost: ${host}\r\n${fields}\r\n`)
  await sender.waitFor(/^HTTP\/1\.1 /)
  sender.socket.destroy()
  return servedRequest(plainServer.exchanges[before])
}

describe('HTTP/2 serves nothing that HTTP/1.1 refuses', () => {
  test.each(heads)('whatever is %s', async (place, cases) => {
    const differing: unknown[] = []
    let served = 0
    for (const head of cases) {
      const own = await sendHttp2(head)
      // The library drops fields that are not valid.
      const isDropped = head.more.some(([name]) => own && !own.fields.includes(name))
      if (!own || isDropped) continue
      served += 1
      const other = await sendHttp1(head)
      if (JSON.stringify(own) !== JSON.stringify(other)) differing.push({ head, own, other })
    }
    expect(differing).toEqual([])
    expect(served, place).toBeGreaterThan(0)
  })

  test('nor a request for another scheme', async () => {
    for (const scheme of ['http', 'ftp', '', 'HTTPS', 'https://a/', 'wss']) {
      for (const target of ['/a', 'http://a/b', ''])
        expect(await sendHttp2({ ...plain, target }, scheme), `${scheme} ${target}`).toBeUndefined()
    }
  })
})
