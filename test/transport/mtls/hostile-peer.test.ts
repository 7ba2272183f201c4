// A pinned peer that means harm: what it sends is bounded in size and time, and nothing half of it lands.
import * as fs from 'node:fs'
import { connect, type TLSSocket } from 'node:tls'
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest'
import { batchText, mostRequestBytes, path } from '../../../adapters/transport/mtls/wire.ts'
import type { Landed } from '../../../daemon/kernel/carrier.ts'
import { handedBy, numbersOf, sendFromAlpha, startReceiving, twoSites } from '../filedrop/two-sites.ts'
import { aParcel, patient, type TlsWorld, taker, tlsWorld } from './tls-world.ts'

const parcel_limits = { max_envelope_bytes: 1_024, max_body_bytes: 4_096 }
const limits = { body_ms: 300, bytes_per_s: 1_000_000, headers_ms: 300, connections_per_peer: 3, requests_per_peer: 1 }

let world: TlsWorld
const { taken, land: take } = taker()
let land: Landed = take
beforeAll(async () => {
  world = await tlsWorld({ parcel_limits, limits })
  await world.bravo.carrier.start((...given) => land(...given))
})
afterAll(() => world.end())
afterEach(() => {
  land = take
})

async function connected(): Promise<TLSSocket> {
  const pem = fs.readFileSync(world.alpha.cert_file, 'utf8')
  const { port } = world.bravo
  const socket = connect({ host: '127.0.0.1', port, cert: pem, key: pem, rejectUnauthorized: false })
  socket.on('error', () => undefined)
  await new Promise((resolve) => socket.once('secureConnect', resolve).once('close', resolve))
  return socket
}

/** The status that comes back, or nothing when the connection is cut. */
function statusOf(socket: TLSSocket): Promise<string> {
  return new Promise((resolve) => {
    let said = ''
    socket.on('data', (bytes: Buffer) => {
      said += bytes.toString()
      const [, status] = /^HTTP\/1\.1 (\d+)/.exec(said) ?? []
      if (status) resolve(status)
    })
    socket.once('close', () => resolve(''))
  })
}

const json = 'content-type: application/json'
const head = (more: readonly string[] = [], line = `POST ${path} HTTP/1.1`) =>
  `${[line, 'host: bravo', ...more].join('\r\n')}\r\n\r\n`
const whole = (body: string, more: readonly string[] = [json]) =>
  `${head([...more, `content-length: ${Buffer.byteLength(body)}`])}${body}`
const parcelOf = (more: object) =>
  JSON.stringify({ parcels: [{ ...JSON.parse(batchText([aParcel(1)])).parcels[0], ...more }] })

const requests: [string, string, string][] = [
  ['garbage', '400', whole('{"parcels":[')],
  ['a list', '400', whole('[]')],
  ['another encoding', '400', whole('\ufeff{}')],
  ['a number that no file has', '400', whole(parcelOf({ seq: 2 ** 53 }))],
  ['an epoch that no file has', '400', whole(parcelOf({ epoch: 100_000_000 }))],
  ['number 0', '400', whole(parcelOf({ seq: 0 }))],
  ['a path for a number', '400', whole(parcelOf({ seq: '../../x' }))],
  ['base64 with a second spelling', '400', whole(parcelOf({ body: 'eyJ9=' }))],
  ['base64 with blanks', '400', whole(parcelOf({ body: 'eyJh IjoxfQ==' }))],
  ['more parcels than a batch has', '400', whole(batchText(Array.from({ length: 65 }, (_, at) => aParcel(at + 1))))],
  ['more than a request may hold', '413', head([json, `content-length: ${mostRequestBytes(parcel_limits) + 1}`])],
  ['more than can be counted', '', head([json, `content-length: ${'9'.repeat(30)}`])],
  ['no length', '411', `${head([json, 'transfer-encoding: chunked'])}5\r\n{"a":\r\n`],
  ['two lengths', '', head([json, 'content-length: 2', 'content-length: 3'])],
  ['something compressed', '415', whole('x', [json, 'content-encoding: gzip'])],
  ['another type', '415', whole('{}', ['content-type: text/plain'])],
  ['another method', '405', head([json], `GET ${path} HTTP/1.1`)],
  ['another path', '404', head([json, 'content-length: 0'], 'POST /api/v2/site/tokens HTTP/1.1')],
  ['a head without end', '', `POST ${path} HTTP/1.1\r\n${'x: y\r\n'.repeat(2_000)}`],
  ['a head that never ends', '', `POST ${path} HTTP/1.1\r\nhost: bravo\r\n`],
  ['another protocol', '', 'EHLO bravo\r\n'],
  ['half a body', '', `${head([json, 'content-length: 500'])}{"parcels":[`],
  ['no body', '', head([json, 'content-length: 500'])],
]

describe('nothing lands of', () => {
  test.each(requests)('%s', async (_what, status, text) => {
    const socket = await connected()
    const answer = statusOf(socket)
    socket.write(text)
    // Whoever is too slow hears so or is cut off, and either way has had its time.
    expect(status === '' ? ['', '400', '408', '431'] : [status]).toContain(await answer)
    socket.destroy()
    expect(taken).toEqual([])
  })

  test('a body that drips', async () => {
    const socket = await connected()
    const answer = statusOf(socket)
    socket.write(head([json, 'content-length: 4000']))
    const dripping = setInterval(() => socket.write(' '), 20)
    expect(['', '408']).toContain(await answer)
    clearInterval(dripping)
    socket.destroy()
    expect(world.bravo.counted.too_slow).toBeGreaterThan(0)
    expect(taken).toEqual([])
  })

  test('a body whose sender is gone', async () => {
    const before = world.bravo.counted.broken_off ?? 0
    const socket = await connected()
    socket.write(`${head([json, 'content-length: 500'])}{"parcels":[`, () => socket.destroy())
    await vi.waitFor(() => expect(world.bravo.counted.broken_off).toBeGreaterThan(before), 60_000)
    expect(taken).toEqual([])
  })
})

test('the listener serves honest requests after all that', async () => {
  expect(await world.alpha.carrier.carry('bravo', [aParcel(1)], patient())).toEqual(['landed'])
  expect(taken.splice(0)).toHaveLength(1)
})

test('a peer has so many connections and no more, and room again when it closes one', async () => {
  await vi.waitFor(async () => {
    const open = await Promise.all([connected(), connected(), connected(), connected()])
    // The last one may still be open here when it is refused there.
    await vi.waitFor(() => expect(open.filter((socket) => !socket.destroyed).length).toBeLessThan(4), 5_000)
    for (const socket of open) socket.destroy()
  }, 60_000)
  expect(world.bravo.counted.too_many_connections).toBeGreaterThan(0)
  await vi.waitFor(async () => {
    expect(await world.alpha.carrier.carry('bravo', [aParcel(1)], patient())).toEqual(['landed'])
  }, 60_000)
  taken.splice(0)
})

test('a second request while one is under way is told to come again soon', async () => {
  let goOn = () => {}
  const held = new Promise<void>((resolve) => (goOn = resolve))
  const begun = vi.fn()
  land = async (peer, parcels) => {
    begun()
    await held
    return await take(peer, parcels)
  }
  const first = world.alpha.carrier.carry('bravo', [aParcel(1)], patient())
  await vi.waitFor(() => expect(begun).toHaveBeenCalled(), 60_000)
  const socket = await connected()
  const answer = statusOf(socket)
  socket.write(whole(batchText([aParcel(2)])))
  expect(await answer).toBe('503')
  goOn()
  expect(await first).toEqual(['landed'])
  expect(taken.splice(0).map(({ parcel }) => parcel.seq)).toEqual([1])
})

test('a batch that is sent again and again lands in the same files and is applied once', async () => {
  const sites = await twoSites()
  const tls = await tlsWorld()
  await startReceiving(sites.bravo)
  await tls.bravo.carrier.start((...given) => sites.bravo.transport.handover.land(...given))
  await sendFromAlpha(sites, 3)
  const parcels = await handedBy(sites.alpha, 'bravo')
  expect(parcels).toHaveLength(3)
  for (let i = 0; i < 3; i++) {
    expect(await tls.alpha.carrier.carry('bravo', parcels, patient())).toEqual(['landed', 'landed', 'landed'])
    await sites.bravo.transport.rescan()
  }
  expect(numbersOf(sites.bravo.received)).toEqual([1, 2, 3])
  await tls.end()
  await sites.dispose()
})
