// A peer's site that answers lies: none of its answers makes this one believe the impossible, wait for ever or take too much.
import * as fs from 'node:fs'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { createServer, type Server, type ServerOptions } from 'node:https'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { createAuthority, issueCertificate, issueIrregularCertificate } from '../../support/keys/site-certificates.ts'
import { buildParcel, createMtlsPair, createTimeoutSignal, type MtlsPair } from './mtls-pair.ts'

let world: MtlsPair
let server: Server | undefined
let requestCount = 0
beforeAll(async () => {
  world = await createMtlsPair()
})
afterEach(async () => {
  server?.closeAllConnections()
  await new Promise((resolve) => (server ? server.close(resolve) : resolve(undefined)))
  server = undefined
  requestCount = 0
})
afterAll(() => world.end())

type RequestHandler = (request: IncomingMessage, response: ServerResponse) => void

/** In bravo's place, by default with its certificate. */
async function replaceBravo(answer: RequestHandler, more: ServerOptions = {}): Promise<void> {
  const pem = fs.readFileSync(world.bravo.cert_file, 'utf8')
  const made = createServer({ cert: pem, key: pem, ...more }, (request, response) => {
    requestCount += 1
    request.resume()
    answer(request, response)
  })
  server = made
  await new Promise<void>((resolve) => made.listen(world.bravo.port, '127.0.0.1', resolve))
}

const carryParcels = (signal = createTimeoutSignal()) =>
  world.alpha.carrier.carry('bravo', [buildParcel(1), buildParcel(2)], signal)
const createResponder = (text: string, status = 200, headers: Record<string, string> = {}): RequestHandler => {
  return (_request, response) => response.writeHead(status, headers).end(text)
}

const falseResponses: [string, RequestHandler][] = [
  ['too few', createResponder('{"landings":["landed"]}')],
  ['too many', createResponder('{"landings":["landed","landed","landed"]}')],
  ['none', createResponder('')],
  ['a word that is none', createResponder('{"landings":["landed","burnt"]}')],
  ['more than the answer', createResponder('{"landings":["landed","landed"],"epoch":7}')],
  ['garbage', createResponder('<html>')],
  ['very much', createResponder(' '.repeat(10_000_000))],
  ['that it went elsewhere', createResponder('', 302, { location: 'https://127.0.0.1:9/' })],
  ['that it is here for ever', createResponder('', 308, { location: '/federation/v1/parcels' })],
  ['that nothing was there', createResponder('', 204)],
  ['that it is broken', createResponder('', 500)],
  ['a head without end', createResponder('', 200, { 'x-long': 'x'.repeat(12_000) })],
  ['half and breaks off', (_request, response) => response.write('{"landings":[', () => response.destroy())],
  ['nothing and breaks off', (_request, response) => void response.destroy()],
]

describe('it is not known what became of the parcels when the peer answers', () => {
  test.each(falseResponses)('%s', async (_what, answer) => {
    await replaceBravo(answer)
    await expect(carryParcels()).rejects.toThrow(/^bravo /)
    expect(requestCount).toBe(1)
  })

  const endless: [string, RequestHandler][] = [
    ['nothing at all', () => undefined],
    ['a drop from time to time', (_request, response) => sendSlowly(response)],
    ['that it is about to, again and again', (_request, response) => sendProcessing(response)],
  ]
  test.each(endless)('%s, for as long as it is waited for', async (_what, answer) => {
    await replaceBravo(answer)
    await expect(carryParcels(AbortSignal.timeout(400))).rejects.toThrow(/^bravo /)
  })
})

function sendSlowly(response: ServerResponse): void {
  response.writeHead(200)
  const dripping = setInterval(() => response.write(' '), 20)
  response.once('close', () => clearInterval(dripping))
}

function sendProcessing(response: ServerResponse): void {
  const again = setInterval(() => response.writeProcessing(), 20)
  response.once('close', () => clearInterval(again))
}

describe('nothing is sent to a server with', () => {
  const others: [string, () => Promise<{ pem: string }>][] = [
    [
      'the certificate of another authority',
      async () => issueNamedCertificate(await createAuthority(world.dir, 'foreign')),
    ],
    ['the certificate of alpha itself', async () => ({ pem: fs.readFileSync(world.alpha.cert_file, 'utf8') })],
    ['another name of bravo’s own authority', async () => issueNamedCertificate(world.bravo.authority, 'charlie')],
    ['an expired certificate', async () => issueNamedCertificate(world.bravo.authority, 'bravo', Date.now() - 60_000)],
    ['a certificate for clients alone', async () => issueIrregularUse('1.3.6.1.5.5.7.3.2')],
  ]
  test.each(others)('%s', async (_what, made) => {
    const { pem } = await made()
    await replaceBravo(createResponder('{"landings":["landed","landed"]}'), { cert: pem, key: pem })
    await expect(carryParcels()).rejects.toThrow('bravo cannot be reached')
    expect(requestCount).toBe(0)
  })

  test('an old version of TLS', async () => {
    await replaceBravo(createResponder('{"landings":["landed","landed"]}'), { maxVersion: 'TLSv1.2' })
    await expect(carryParcels()).rejects.toThrow('bravo cannot be reached')
    expect(requestCount).toBe(0)
  })
})

const issueNamedCertificate = (authority: Parameters<typeof issueCertificate>[1], site = 'bravo', not_after?: number) =>
  issueCertificate(world.dir, authority, `odd-${site}`, { site, ...(not_after === undefined ? {} : { not_after }) })
const issueIrregularUse = (use: string) =>
  issueIrregularCertificate(world.dir, world.bravo.authority, 'odd-use', {
    uris: ['urn:platform:site:bravo'],
    uses: [use],
  })

test.each([
  ['17', 17_000],
  ['999999', 999_999_000],
  ['-5', 5_000],
  ['soon', 5_000],
  ['Wed, 21 Oct 2099 07:28:00 GMT', 5_000],
])('a peer that takes nothing for %s is believed as far as that is a number', async (wait, wait_ms) => {
  await replaceBravo(createResponder('', 503, { 'retry-after': wait }))
  await expect(carryParcels()).rejects.toMatchObject({ name: 'PeerBusyError', wait_ms })
})
