// A pinned peer that means harm: what it sends is bounded in size and time, and nothing half of it lands.
import * as fs from 'node:fs'
import { connect, type TLSSocket } from 'node:tls'
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest'
import { encodeBatch, maxRequestBytes, parcels_path } from '../../../adapters/transport/mtls/parcel-batch.ts'
import type { MessageReceiver } from '../../../daemon/kernel/messaging/carrier.ts'
import {
  createFiledropSites,
  listHandedParcels,
  listNumbers,
  sendFromAlpha,
  startReceiving,
} from '../../support/filedrop/filedrop-sites.ts'
import { buildParcel, createMtlsPair, createReceiver, createTimeoutSignal, type MtlsPair } from './mtls-pair.ts'

const parcel_limits = { max_envelope_bytes: 1_024, max_body_bytes: 4_096 }
const limits = { body_ms: 300, bytes_per_s: 1_000_000, headers_ms: 300, connections_per_peer: 3, requests_per_peer: 1 }

let world: MtlsPair
const { taken, land: take } = createReceiver()
let land: MessageReceiver = take
beforeAll(async () => {
  world = await createMtlsPair({ parcel_limits, limits })
  await world.bravo.carrier.start((...args) => land(...args))
})
afterAll(() => world.end())
afterEach(() => {
  land = take
})

async function connectToAlpha(): Promise<TLSSocket> {
  const pem = fs.readFileSync(world.alpha.cert_file, 'utf8')
  const { port } = world.bravo
  const socket = connect({ host: '127.0.0.1', port, cert: pem, key: pem, rejectUnauthorized: false })
  socket.on('error', () => undefined)
  await new Promise((resolve) => socket.once('secureConnect', resolve).once('close', resolve))
  return socket
}

/** The status that comes back, or nothing when the connection is cut. */
function readStatus(socket: TLSSocket): Promise<string> {
  return new Promise((resolve) => {
    let output = ''
    socket.on('data', (bytes: Buffer) => {
      output += bytes.toString()
      const [, status] = /^HTTP\/1\.1 (\d+)/.exec(output) ?? []
      if (status) resolve(status)
    })
    socket.once('close', () => resolve(''))
  })
}

const json = 'content-type: application/json'
const formatHead = (more: readonly string[] = [], line = `POST ${parcels_path} HTTP/1.1`) =>
  `${[line, 'host: bravo', ...more].join('\r\n')}\r\n\r\n`
const formatRequest = (body: string, more: readonly string[] = [json]) =>
  `${formatHead([...more, `content-length: ${Buffer.byteLength(body)}`])}${body}`
const formatParcels = (more: object) =>
  JSON.stringify({ parcels: [{ ...JSON.parse(encodeBatch([buildParcel(1)])).parcels[0], ...more }] })

const requests: [string, string, string][] = [
  ['garbage', '400', formatRequest('{"parcels":[')],
  ['a list', '400', formatRequest('[]')],
  ['another encoding', '400', formatRequest('\ufeff{}')],
  ['a number that no file has', '400', formatRequest(formatParcels({ seq: 2 ** 53 }))],
  ['an epoch that no file has', '400', formatRequest(formatParcels({ epoch: 100_000_000 }))],
  ['number 0', '400', formatRequest(formatParcels({ seq: 0 }))],
  ['a path for a number', '400', formatRequest(formatParcels({ seq: '../../x' }))],
  ['base64 with a second spelling', '400', formatRequest(formatParcels({ body: 'eyJ9=' }))],
  ['base64 with blanks', '400', formatRequest(formatParcels({ body: 'eyJh IjoxfQ==' }))],
  [
    'more parcels than a batch has',
    '400',
    formatRequest(encodeBatch(Array.from({ length: 65 }, (_, at) => buildParcel(at + 1)))),
  ],
  ['more than a request may hold', '413', formatHead([json, `content-length: ${maxRequestBytes(parcel_limits) + 1}`])],
  ['more than can be counted', '', formatHead([json, `content-length: ${'9'.repeat(30)}`])],
  ['no length', '411', `${formatHead([json, 'transfer-encoding: chunked'])}5\r\n{"a":\r\n`],
  ['two lengths', '', formatHead([json, 'content-length: 2', 'content-length: 3'])],
  ['something compressed', '415', formatRequest('x', [json, 'content-encoding: gzip'])],
  ['another type', '415', formatRequest('{}', ['content-type: text/plain'])],
  ['another method', '405', formatHead([json], `GET ${parcels_path} HTTP/1.1`)],
  ['another path', '404', formatHead([json, 'content-length: 0'], 'POST /api/v2/site/tokens HTTP/1.1')],
  ['a head without end', '', `POST ${parcels_path} HTTP/1.1\r\n${'x: y\r\n'.repeat(2_000)}`],
  ['a head that never ends', '', `POST ${parcels_path} HTTP/1.1\r\nhost: bravo\r\n`],
  ['another protocol', '', 'EHLO bravo\r\n'],
  ['half a body', '', `${formatHead([json, 'content-length: 500'])}{"parcels":[`],
  ['no body', '', formatHead([json, 'content-length: 500'])],
]

describe('nothing lands of', () => {
  test.each(requests)('%s', async (_what, status, text) => {
    const socket = await connectToAlpha()
    const answer = readStatus(socket)
    socket.write(text)
    // A peer that is too slow gets an answer or is cut off, and has had its time either way.
    expect(status === '' ? ['', '400', '408', '431'] : [status]).toContain(await answer)
    socket.destroy()
    expect(taken).toEqual([])
  })

  test('a body that drips', async () => {
    const socket = await connectToAlpha()
    const answer = readStatus(socket)
    socket.write(formatHead([json, 'content-length: 4000']))
    const dripping = setInterval(() => socket.write(' '), 20)
    expect(['', '408']).toContain(await answer)
    clearInterval(dripping)
    socket.destroy()
    expect(world.bravo.counted.too_slow).toBeGreaterThan(0)
    expect(taken).toEqual([])
  })

  test('a body whose sender is gone', async () => {
    const before = world.bravo.counted.broken_off ?? 0
    const socket = await connectToAlpha()
    socket.write(`${formatHead([json, 'content-length: 500'])}{"parcels":[`, () => socket.destroy())
    await vi.waitFor(() => expect(world.bravo.counted.broken_off).toBeGreaterThan(before), 60_000)
    expect(taken).toEqual([])
  })
})

test('the listener serves honest requests after all that', async () => {
  expect(await world.alpha.carrier.carry('bravo', [buildParcel(1)], createTimeoutSignal())).toEqual(['landed'])
  expect(taken.splice(0)).toHaveLength(1)
})

test('a peer has so many connections and no more, and room again when it closes one', async () => {
  await vi.waitFor(async () => {
    const open = await Promise.all([connectToAlpha(), connectToAlpha(), connectToAlpha(), connectToAlpha()])
    // The last one may still be open here when it is refused there.
    await vi.waitFor(() => expect(open.filter((socket) => !socket.destroyed).length).toBeLessThan(4), 5_000)
    for (const socket of open) socket.destroy()
  }, 60_000)
  expect(world.bravo.counted.too_many_connections).toBeGreaterThan(0)
  await vi.waitFor(async () => {
    expect(await world.alpha.carrier.carry('bravo', [buildParcel(1)], createTimeoutSignal())).toEqual(['landed'])
  }, 60_000)
  taken.splice(0)
})

test('a second request while one is under way gets a retry time', async () => {
  let goOn = () => {}
  const held = new Promise<void>((resolve) => (goOn = resolve))
  const begun = vi.fn()
  land = async (peer, parcels) => {
    begun()
    await held
    return await take(peer, parcels)
  }
  const first = world.alpha.carrier.carry('bravo', [buildParcel(1)], createTimeoutSignal())
  await vi.waitFor(() => expect(begun).toHaveBeenCalled(), 60_000)
  const socket = await connectToAlpha()
  const answer = readStatus(socket)
  socket.write(formatRequest(encodeBatch([buildParcel(2)])))
  expect(await answer).toBe('503')
  goOn()
  expect(await first).toEqual(['landed'])
  expect(taken.splice(0).map(({ parcel }) => parcel.seq)).toEqual([1])
})

test('a batch that is sent again and again lands in the same files and is applied once', async () => {
  const sites = await createFiledropSites()
  const tls = await createMtlsPair()
  await startReceiving(sites.bravo)
  await tls.bravo.carrier.start((...args) => sites.bravo.transport.handover.receive(...args))
  await sendFromAlpha(sites, 3)
  const parcels = await listHandedParcels(sites.alpha, 'bravo')
  expect(parcels).toHaveLength(3)
  for (let i = 0; i < 3; i++) {
    expect(await tls.alpha.carrier.carry('bravo', parcels, createTimeoutSignal())).toEqual([
      'landed',
      'landed',
      'landed',
    ])
    await sites.bravo.transport.rescan()
  }
  expect(listNumbers(sites.bravo.received)).toEqual([1, 2, 3])
  await tls.end()
  await sites.dispose()
})
