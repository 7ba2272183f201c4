// A peer's site that answers lies: nothing that it says makes this one believe what cannot be, wait for ever or take what is too much.
import * as fs from 'node:fs'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { createServer, type Server, type ServerOptions } from 'node:https'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { aCertificate, anAuthority, anOddCertificate } from '../../support/certificates.ts'
import { aParcel, patient, type TlsWorld, tlsWorld } from './tls-world.ts'

let world: TlsWorld
let server: Server | undefined
let asked = 0
beforeAll(async () => {
  world = await tlsWorld()
})
afterEach(async () => {
  server?.closeAllConnections()
  await new Promise((resolve) => (server ? server.close(resolve) : resolve(undefined)))
  server = undefined
  asked = 0
})
afterAll(() => world.end())

type Answering = (request: IncomingMessage, response: ServerResponse) => void

/** In bravo's place, with its certificate unless another is given. */
async function inPlaceOfBravo(answer: Answering, more: ServerOptions = {}): Promise<void> {
  const pem = fs.readFileSync(world.bravo.cert_file, 'utf8')
  const made = createServer({ cert: pem, key: pem, ...more }, (request, response) => {
    asked += 1
    request.resume()
    answer(request, response)
  })
  server = made
  await new Promise<void>((resolve) => made.listen(world.bravo.port, '127.0.0.1', resolve))
}

const carry = (signal = patient()) => world.alpha.carrier.carry('bravo', [aParcel(1), aParcel(2)], signal)
const says = (text: string, status = 200, headers: Record<string, string> = {}): Answering => {
  return (_request, response) => response.writeHead(status, headers).end(text)
}

const lies: [string, Answering][] = [
  ['too few', says('{"landings":["landed"]}')],
  ['too many', says('{"landings":["landed","landed","landed"]}')],
  ['none', says('')],
  ['a word that is none', says('{"landings":["landed","burnt"]}')],
  ['more than the answer', says('{"landings":["landed","landed"],"epoch":7}')],
  ['garbage', says('<html>')],
  ['very much', says(' '.repeat(10_000_000))],
  ['that it went elsewhere', says('', 302, { location: 'https://127.0.0.1:9/' })],
  ['that it is here for ever', says('', 308, { location: '/federation/v1/parcels' })],
  ['that nothing was there', says('', 204)],
  ['that it is broken', says('', 500)],
  ['a head without end', says('', 200, { 'x-long': 'x'.repeat(12_000) })],
  ['half and breaks off', (_request, response) => response.write('{"landings":[', () => response.destroy())],
  ['nothing and breaks off', (_request, response) => void response.destroy()],
]

describe('it is not known what became of the parcels when the peer answers', () => {
  test.each(lies)('%s', async (_what, answer) => {
    await inPlaceOfBravo(answer)
    await expect(carry()).rejects.toThrow(/^bravo /)
    expect(asked).toBe(1)
  })

  const endless: [string, Answering][] = [
    ['nothing at all', () => undefined],
    ['a drop from time to time', (_request, response) => drip(response)],
    ['that it is about to, again and again', (_request, response) => processing(response)],
  ]
  test.each(endless)('%s, for as long as it is waited for', async (_what, answer) => {
    await inPlaceOfBravo(answer)
    await expect(carry(AbortSignal.timeout(400))).rejects.toThrow(/^bravo /)
  })
})

function drip(response: ServerResponse): void {
  response.writeHead(200)
  const dripping = setInterval(() => response.write(' '), 20)
  response.once('close', () => clearInterval(dripping))
}

function processing(response: ServerResponse): void {
  const again = setInterval(() => response.writeProcessing(), 20)
  response.once('close', () => clearInterval(again))
}

describe('nothing is sent to a server with', () => {
  const others: [string, () => Promise<{ pem: string }>][] = [
    ['the certificate of another authority', async () => named(await anAuthority(world.dir, 'foreign'))],
    ['the certificate of alpha itself', async () => ({ pem: fs.readFileSync(world.alpha.cert_file, 'utf8') })],
    ['another name of bravo’s own authority', async () => named(world.bravo.authority, 'charlie')],
    ['an expired certificate', async () => named(world.bravo.authority, 'bravo', Date.now() - 60_000)],
    ['a certificate for clients alone', async () => odd('1.3.6.1.5.5.7.3.2')],
  ]
  test.each(others)('%s', async (_what, made) => {
    const { pem } = await made()
    await inPlaceOfBravo(says('{"landings":["landed","landed"]}'), { cert: pem, key: pem })
    await expect(carry()).rejects.toThrow('bravo cannot be reached')
    expect(asked).toBe(0)
  })

  test('an old version of TLS', async () => {
    await inPlaceOfBravo(says('{"landings":["landed","landed"]}'), { maxVersion: 'TLSv1.2' })
    await expect(carry()).rejects.toThrow('bravo cannot be reached')
    expect(asked).toBe(0)
  })
})

const named = (authority: Parameters<typeof aCertificate>[1], site = 'bravo', not_after?: number) =>
  aCertificate(world.dir, authority, `odd-${site}`, { site, ...(not_after === undefined ? {} : { not_after }) })
const odd = (use: string) =>
  anOddCertificate(world.dir, world.bravo.authority, 'odd-use', { uris: ['urn:platform:site:bravo'], uses: [use] })

test.each([
  ['17', 17_000],
  ['999999', 999_999_000],
  ['-5', 5_000],
  ['soon', 5_000],
  ['Wed, 21 Oct 2099 07:28:00 GMT', 5_000],
])('a peer that takes nothing for %s is believed as far as that is a number', async (wait, wait_ms) => {
  await inPlaceOfBravo(says('', 503, { 'retry-after': wait }))
  await expect(carry()).rejects.toMatchObject({ name: 'Busy', wait_ms })
})
