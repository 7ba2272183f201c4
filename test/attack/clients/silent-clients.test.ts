// Crowds of clients that begin and never end, at each kind of listener: everybody else is served, and the site stops.
// The listener of mTLS has its own crowds in test/transport/mtls, with certificates and without.
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { roleSocketFile } from '../../../daemon/boot/storage/site-folder.ts'
import { sendExactRequest } from '../../support/http/send-exact-request.ts'
import { closeDataListeners, startDataListener } from '../../support/proxy/test-data-listener.ts'
import {
  everyRoleSections,
  type SingleClusterSite,
  startSingleClusterSite,
} from '../../support/site/single-cluster-site.ts'
import { type ClientCrowd, gatherCrowd, type ListenerAddress, silentBehaviours } from './crowd.ts'

/** Of each behaviour, at each listener. */
const crowd_size = 40

let site: SingleClusterSite
let honest: string
let mallory: string
const crowds: ClientCrowd[] = []
beforeAll(async () => {
  site = await startSingleClusterSite(everyRoleSections)
  honest = await site.token({ roles: ['admin'] })
  mallory = await site.token({ sub: 'mallory', roles: ['admin'] })
})
afterAll(() => site?.close())

const listeners: Readonly<Record<string, () => ListenerAddress>> = {
  'a role over TCP': () => ({ port: site.port('consensus') }),
  'the issuer of tokens': () => ({ port: site.port('site') }),
  'a role over its local socket': () => ({ path: roleSocketFile(site.folder, 'intelligence') }),
  'the proxy’s local socket': () => ({ path: roleSocketFile(site.folder, 'proxy') }),
}

/** An honest client gets a public answer, and one that needs a token. */
async function expectServed(to: ListenerAddress): Promise<void> {
  const at = 'port' in to ? to : { port: 0, socket: to.path }
  expect((await sendExactRequest({ ...at, method: 'GET', path: '/health' })).status).toBe(200)
  const { status, text } = await sendExactRequest({ ...at, method: 'GET', path: '/openapi.json', token: honest })
  expect(status, text).toBe(200)
}

describe.each(Object.entries(listeners))('%s', (_, address) => {
  test.each(silentBehaviours)('serves others while clients $name', async (behaviour) => {
    const crowd = await gatherCrowd(address(), crowd_size, behaviour, mallory)
    crowds.push(crowd)
    await expectServed(address())
  })

  test('serves others while tool clients and readers of streams read nothing', async () => {
    const streams = ['/agentspace', '/api/v2/hub/feed/events', '/api/v2/consensus/session/x/events']
    for (const path of streams) {
      const bytes = (token: string) =>
        `GET ${path} HTTP/1.1\r\nhost: a\r\naccept: text/event-stream\r\nauthorization: Bearer ${token}\r\n\r\n`
      crowds.push(await gatherCrowd(address(), crowd_size, { bytes, reads: false }, mallory))
    }
    await expectServed(address())
  })
})

test('the public listener serves others, and closes silent ones when their time is over', async () => {
  const { listener, clock } = await startDataListener((exchange) => exchange.reply(200, [], Buffer.from('ok')))
  try {
    const silent = await Promise.all(
      silentBehaviours
        .filter(({ reads }) => reads !== false)
        .map(({ bytes }) => gatherCrowd({ port: listener.port }, 20, { bytes }, 'x')),
    )
    const { status } = await sendExactRequest({ port: listener.port, method: 'GET', path: '/' })
    expect(status).toBe(200)
    for (const [at, crowd] of silent.entries()) {
      const countClosed = () => {
        clock.advance(60_000)
        return crowd.countClosed()
      }
      await expect.poll(countClosed, { message: silentBehaviours[at]?.name ?? '' }).toBe(20)
    }
  } finally {
    await closeDataListeners()
  }
})

test('the site stops while all of them are there, and closes every connection', async () => {
  await site.running.stop()
  for (const crowd of crowds) crowd.readOn()
  for (const crowd of crowds) await expect.poll(() => crowd.countClosed()).toBe(crowd_size)
})
