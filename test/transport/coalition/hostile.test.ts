// A hub is not trusted: whatever it or its users do to messages, signatures and numbers decide.
import * as fs from 'node:fs'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { canonicalJson } from '../../../daemon/kernel/encoding/canonical-json.ts'
import {
  buildMessage,
  formatReadyPath,
  listNumbers,
  listQuarantineReasons,
} from '../../support/filedrop/filedrop-sites.ts'
import { waitUntil } from '../../support/site/test-site.ts'
import { sampleTrace } from '../../support/trace/sample-trace.ts'
import { createCarrier, createHubSites, type HubSites } from './hub-sites.ts'
import { startTamperingHub, type TamperingHub } from './tampering-hub.ts'
import { startTestHub, type TestHub } from './test-hub.ts'

let hub: TestHub
let tamperingHub: TamperingHub
let hubSites: HubSites
beforeEach(async () => {
  hub = await startTestHub({ mailbox_messages: 20, max_message_bytes: 20_000 })
  tamperingHub = await startTamperingHub(hub.endpoint)
  hubSites = await createHubSites(tamperingHub.endpoint)
})
afterEach(async () => {
  await hubSites.dispose()
  await tamperingHub.close()
  await hub.close()
})

async function sendMessages(count: number): Promise<void> {
  for (let sent = 0; sent < count; sent++)
    await hubSites.sites.alpha.transport.send(buildMessage(hubSites.sites), sampleTrace)
}

const numbers = () => listNumbers(hubSites.delivered)
const upTo = (count: number) => Array.from({ length: count }, (_, index) => index + 1)
const waitForArrivals = (count: number) => waitUntil(() => numbers().length >= count)
const waitUntilOnline = () =>
  waitUntil(async () => (await hub.isRegistered('alpha')) && (await hub.isRegistered('bravo')))
const readIncoming = async () =>
  (await hubSites.sites.bravo.transport.status()).find(({ direction }) => direction === 'in')

test('disorder and doubles change nothing: each is taken once, in the order of its number', async () => {
  tamperingHub.tampering.mailbox = (items) => [...items.toReversed(), ...items]
  await hubSites.start('alpha', 'bravo')
  await waitUntilOnline()
  await sendMessages(10)
  await waitForArrivals(10)
  await waitUntil(async () => (await hub.countWaiting()) === 0)
  expect(numbers()).toEqual(upTo(10))
  expect(listQuarantineReasons(hubSites.sites.bravo, 'alpha')).toEqual([])
})

test('a message that the hub acknowledged and lost is a gap, and arrives when it is sent again', async () => {
  tamperingHub.tampering.drops = (seq) => seq === 2
  await hubSites.start('alpha', 'bravo')
  await waitUntilOnline()
  await sendMessages(3)
  await hubSites.waitUntilSent()
  await waitUntil(async () => (await readIncoming())?.gaps === 1)
  tamperingHub.tampering.drops = () => false
  await hubSites.sites.alpha.transport.oneWay.resend({ peer: 'bravo', first: 2, last: 2 })
  await waitForArrivals(3)
  expect(numbers()).toEqual(upTo(3))
})

test('a message under another sender’s name is nobody’s: what was not signed by alpha is put away', async () => {
  // The same statement, signed by another node that sends it as alpha's.
  const posing = async (item: { envelope: string }) => {
    const { payload } = JSON.parse(Buffer.from(item.envelope, 'base64').toString()) as { payload: string }
    const signed = await hubSites.sites.bravo.signatures.sign('statement', Buffer.from(payload, 'base64url'))
    return { ...item, envelope: Buffer.from(canonicalJson(signed)).toString('base64') }
  }
  tamperingHub.tampering.mailbox = (items, node) => (node === 'bravo' ? Promise.all(items.map(posing)) : items)
  await hubSites.start('alpha', 'bravo')
  await waitUntilOnline()
  await sendMessages(2)
  await waitUntil(() => listQuarantineReasons(hubSites.sites.bravo, 'alpha').length === 2)
  const reasons = listQuarantineReasons(hubSites.sites.bravo, 'alpha').map(({ reason }) => reason)
  expect([hubSites.delivered, reasons]).toEqual([[], ['UNKNOWN_KEY', 'UNKNOWN_KEY']])
})

test('leaves messages of another receiver untouched, for an honest hub', async () => {
  tamperingHub.tampering.mailbox = (items) => items.map((item) => ({ ...item, from: 'charlie' }))
  await hubSites.start('alpha', 'bravo')
  await waitUntilOnline()
  await sendMessages(2)
  await hubSites.waitUntilSent()
  await waitUntil(() => hubSites.logged.some((line) => line.includes('messages of another')))
  expect([hubSites.delivered.length, await hub.countWaiting()]).toEqual([0, 2])
  delete tamperingHub.tampering.mailbox
  await waitForArrivals(2)
})

test('quarantines garbage with a reason, and sound messages beside it arrive', async () => {
  tamperingHub.tampering.mailbox = (items, node) => {
    const [first] = items
    if (node !== 'bravo' || !first) return items
    const bytes = Buffer.from('no message at all').toString('base64')
    return [...items, { ...first, id: 'mail_garbage', epoch: 7, seq: 77, envelope: bytes, body: bytes }]
  }
  await hubSites.start('alpha', 'bravo')
  await waitUntilOnline()
  await sendMessages(3)
  await waitForArrivals(3)
  await waitUntil(() => listQuarantineReasons(hubSites.sites.bravo, 'alpha').length === 1)
  expect(numbers()).toEqual(upTo(3))
})

test.each([
  ['no JSON', { status: 200, text: 'no json' }],
  ['another shape', { status: 200, text: '{"items":[{"id":7}]}' }],
  [
    'a message without base64',
    {
      status: 200,
      text: '{"items":[{"id":"a","from":"alpha","epoch":1,"seq":1,"envelope":"!","body":"!","arrived_at":"2026-03-01T12:00:00Z"}]}',
    },
  ],
  ['a redirect', { status: 302, text: '' }],
  ['a failure', { status: 500, text: '' }],
])('%s in place of a mailbox is not an answer, and causes another request', async (_, forged) => {
  tamperingHub.tampering.respond = (method, path) =>
    method === 'GET' && path.includes('message?') ? forged : undefined
  await hubSites.start('alpha', 'bravo')
  await waitUntilOnline()
  await sendMessages(2)
  await hubSites.waitUntilSent()
  await waitUntil(() => hubSites.logged.some((line) => line.includes('"what":"mailbox"') && line.includes('unreached')))
  delete tamperingHub.tampering.respond
  await waitForArrivals(2)
  expect(numbers()).toEqual(upTo(2))
})

test('an event without an end is cut off', async () => {
  const text = `data: ${'x'.repeat(100_000)}`
  tamperingHub.tampering.respond = (_, path) =>
    path.endsWith('/events') ? { status: 200, type: 'text/event-stream', text } : undefined
  await hubSites.start('alpha', 'bravo')
  await waitUntil(() => hubSites.logged.some((line) => line.includes('an event without an end')))
})

test('a token that the hub takes no more is replaced, and nothing is lost over it', async () => {
  const first = new Set<string>()
  tamperingHub.tampering.respond = (_method, _path, token) => {
    if (first.size < 2) first.add(token)
    return first.has(token) ? { status: 401, text: '' } : undefined
  }
  await hubSites.start('alpha', 'bravo')
  await waitUntilOnline()
  await sendMessages(5)
  await waitForArrivals(5)
  expect(numbers()).toEqual(upTo(5))
})

test('a mailbox that is full is waited for, and nothing of what waits is lost', async () => {
  await hubSites.start('bravo')
  await waitUntil(() => hub.isRegistered('bravo'))
  await hubSites.restart('bravo')
  tamperingHub.tampering.mailbox = () => []
  await hubSites.start('alpha')
  await sendMessages(30)
  await hubSites.sites.alpha.transport.rescan()
  await waitUntil(async () => (await hub.countWaiting()) >= 20)
  await waitUntil(() => hubSites.logged.some((line) => line.includes('accepts no messages at present')))
  delete tamperingHub.tampering.mailbox
  await waitForArrivals(30)
  expect(numbers()).toEqual(upTo(30))
})

test('a message too large for the hub stays for a courier, and delays no other', async () => {
  await hubSites.start('alpha', 'bravo')
  await waitUntilOnline()
  const large = buildMessage(hubSites.sites, { body: { text: 'x'.repeat(30_000) } })
  await hubSites.sites.alpha.transport.send(large, sampleTrace)
  await sendMessages(30)
  await waitForArrivals(30)
  expect(numbers()).toEqual(upTo(31).slice(1))
  await waitUntil(() => fs.readdirSync(formatReadyPath(hubSites.sites.alpha, 'bravo')).length === 2)
})

test('a message that this site cannot take stays at the hub until it can', async () => {
  await hubSites.start('alpha', 'bravo')
  await waitUntilOnline()
  const alpha = hubSites.sites.bravo.pinned.get('alpha')
  hubSites.sites.bravo.pinned.delete('alpha')
  await sendMessages(2)
  await hubSites.waitUntilSent()
  await waitUntil(() => hubSites.logged.some((line) => line.includes('carrier.peer.landing_failed')))
  expect([hubSites.delivered.length, await hub.countWaiting()]).toEqual([0, 2])
  if (alpha) hubSites.sites.bravo.pinned.set('alpha', alpha)
  await waitForArrivals(2)
})

test('a node without the secret never joins, and the secret is in no log', async () => {
  const lines: string[] = []
  const line = (event: string, fields?: object) => void lines.push(JSON.stringify({ event, ...fields }))
  const log = { debug: line, info: line, warn: line, error: line }
  const carrier = createCarrier(
    { ...hub.endpoint('mallory'), client_id: 'bravo', secret_file: '/nowhere' },
    'bravo',
    [],
    log,
  )
  await carrier.start(
    async () => [],
    async () => undefined,
  )
  await waitUntil(() => lines.some((text) => text.includes('cannot be read')))
  expect((await carrier.health()).ok).toBe(false)
  await carrier.stop()
  expect(await hub.isRegistered('bravo')).toBe(false)
  const posing = createCarrier(hub.endpoint('mallory'), 'bravo', ['alpha'], log)
  await posing.start(
    async () => [],
    async () => undefined,
  )
  await waitUntil(() => lines.some((text) => text.includes('not enrolled as this node')))
  await posing.stop()
  expect(await hub.isRegistered('bravo')).toBe(false)
  expect([...lines, ...hub.site.logged].filter((text) => text.includes('a-secret-of-more'))).toEqual([])
})
