// A hub is not trusted: whatever it does to messages, and whoever sends what through it, signatures and numbers decide.
import * as fs from 'node:fs'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { canonical } from '../../../daemon/kernel/canonical.ts'
import { aTrace } from '../../support/a-trace.ts'
import { until } from '../../support/site-world.ts'
import { message, numbersOf, quarantineOf, readyOf } from '../filedrop/two-sites.ts'
import { carrierFor, type HubSites, hubSites } from './hub-sites.ts'
import { type LyingHub, lyingHub } from './lying-hub.ts'
import { type ServedHub, servedHub } from './served-hub.ts'

let hub: ServedHub
let liar: LyingHub
let moved: HubSites
beforeEach(async () => {
  hub = await servedHub({ mailbox_messages: 20, max_message_bytes: 20_000 })
  liar = await lyingHub(hub.way)
  moved = await hubSites(liar.way)
})
afterEach(async () => {
  await moved.dispose()
  await liar.close()
  await hub.close()
})

async function send(count: number): Promise<void> {
  for (let sent = 0; sent < count; sent++) await moved.sites.alpha.transport.send(message(moved.sites), aTrace)
}

const numbers = () => numbersOf(moved.delivered)
const upTo = (count: number) => Array.from({ length: count }, (_, index) => index + 1)
const arrived = (count: number) => until(() => numbers().length >= count)
const bothJoined = () => until(async () => (await hub.isThere('alpha')) && (await hub.isThere('bravo')))
const incoming = async () => (await moved.sites.bravo.transport.status()).find(({ direction }) => direction === 'in')

test('disorder and doubles change nothing: each is taken once, in the order of its number', async () => {
  liar.lies.mailbox = (items) => [...items.toReversed(), ...items]
  await moved.start('alpha', 'bravo')
  await bothJoined()
  await send(10)
  await arrived(10)
  await until(async () => (await hub.waiting()) === 0)
  expect(numbers()).toEqual(upTo(10))
  expect(quarantineOf(moved.sites.bravo, 'alpha')).toEqual([])
})

test('what the hub acknowledged and kept nowhere is a gap, and comes when it is sent again', async () => {
  liar.lies.swallows = (seq) => seq === 2
  await moved.start('alpha', 'bravo')
  await bothJoined()
  await send(3)
  await moved.sent()
  await until(async () => (await incoming())?.gaps === 1)
  liar.lies.swallows = () => false
  await moved.sites.alpha.transport.oneWay.resend({ peer: 'bravo', first: 2, last: 2 })
  await arrived(3)
  expect(numbers()).toEqual(upTo(3))
})

test('a message under another sender’s name is nobody’s: what was not signed by alpha is put away', async () => {
  // The same statement, signed by another node that sends it as alpha's.
  const posing = async (item: { envelope: string }) => {
    const { payload } = JSON.parse(Buffer.from(item.envelope, 'base64').toString()) as { payload: string }
    const signed = await moved.sites.bravo.signatures.sign('statement', Buffer.from(payload, 'base64url'))
    return { ...item, envelope: Buffer.from(canonical(signed)).toString('base64') }
  }
  liar.lies.mailbox = (items, node) => (node === 'bravo' ? Promise.all(items.map(posing)) : items)
  await moved.start('alpha', 'bravo')
  await bothJoined()
  await send(2)
  await until(() => quarantineOf(moved.sites.bravo, 'alpha').length === 2)
  const reasons = quarantineOf(moved.sites.bravo, 'alpha').map(({ reason }) => reason)
  expect([moved.delivered, reasons]).toEqual([[], ['UNKNOWN_KEY', 'UNKNOWN_KEY']])
})

test('messages of another than was asked for are not touched, and are there for an honest hub', async () => {
  liar.lies.mailbox = (items) => items.map((item) => ({ ...item, from: 'charlie' }))
  await moved.start('alpha', 'bravo')
  await bothJoined()
  await send(2)
  await moved.sent()
  await until(() => moved.logged.some((line) => line.includes('messages of another')))
  expect([moved.delivered.length, await hub.waiting()]).toEqual([0, 2])
  delete liar.lies.mailbox
  await arrived(2)
})

test('garbage is put away with a reason, and what is sound beside it arrives', async () => {
  liar.lies.mailbox = (items, node) => {
    const [first] = items
    if (node !== 'bravo' || !first) return items
    const bytes = Buffer.from('no message at all').toString('base64')
    return [...items, { ...first, id: 'mail_garbage', epoch: 7, seq: 77, envelope: bytes, body: bytes }]
  }
  await moved.start('alpha', 'bravo')
  await bothJoined()
  await send(3)
  await arrived(3)
  await until(() => quarantineOf(moved.sites.bravo, 'alpha').length === 1)
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
])('%s in place of a mailbox is no answer, and is asked for again', async (_, forged) => {
  liar.lies.answers = (method, path) => (method === 'GET' && path.includes('message?') ? forged : undefined)
  await moved.start('alpha', 'bravo')
  await bothJoined()
  await send(2)
  await moved.sent()
  await until(() => moved.logged.some((line) => line.includes('"what":"mailbox"') && line.includes('unreached')))
  delete liar.lies.answers
  await arrived(2)
  expect(numbers()).toEqual(upTo(2))
})

test('an event without an end is cut off', async () => {
  const text = `data: ${'x'.repeat(100_000)}`
  liar.lies.answers = (_, path) =>
    path.endsWith('/events') ? { status: 200, type: 'text/event-stream', text } : undefined
  await moved.start('alpha', 'bravo')
  await until(() => moved.logged.some((line) => line.includes('an event without an end')))
})

test('a token that the hub takes no more is replaced, and nothing is lost over it', async () => {
  const first = new Set<string>()
  liar.lies.answers = (_method, _path, token) => {
    if (first.size < 2) first.add(token)
    return first.has(token) ? { status: 401, text: '' } : undefined
  }
  await moved.start('alpha', 'bravo')
  await bothJoined()
  await send(5)
  await arrived(5)
  expect(numbers()).toEqual(upTo(5))
})

test('a mailbox that is full is waited for, and nothing of what waits is lost', async () => {
  await moved.start('bravo')
  await until(() => hub.isThere('bravo'))
  await moved.restart('bravo')
  liar.lies.mailbox = () => []
  await moved.start('alpha')
  await send(30)
  await moved.sites.alpha.transport.rescan()
  await until(async () => (await hub.waiting()) >= 20)
  await until(() => moved.logged.some((line) => line.includes('takes nothing now')))
  delete liar.lies.mailbox
  await arrived(30)
  expect(numbers()).toEqual(upTo(30))
})

test('what is too large for the hub stays for a courier, and holds up nothing else', async () => {
  await moved.start('alpha', 'bravo')
  await bothJoined()
  const large = message(moved.sites, { body: { text: 'x'.repeat(30_000) } })
  await moved.sites.alpha.transport.send(large, aTrace)
  await send(30)
  await arrived(30)
  expect(numbers()).toEqual(upTo(31).slice(1))
  await until(() => fs.readdirSync(readyOf(moved.sites.alpha, 'bravo')).length === 2)
})

test('what this site cannot take stays at the hub until it can', async () => {
  await moved.start('alpha', 'bravo')
  await bothJoined()
  const alpha = moved.sites.bravo.pinned.get('alpha')
  moved.sites.bravo.pinned.delete('alpha')
  await send(2)
  await moved.sent()
  await until(() => moved.logged.some((line) => line.includes('carrier.peer.not_taken')))
  expect([moved.delivered.length, await hub.waiting()]).toEqual([0, 2])
  if (alpha) moved.sites.bravo.pinned.set('alpha', alpha)
  await arrived(2)
})

test('a node without the secret never joins, and the secret is in no log', async () => {
  const lines: string[] = []
  const line = (event: string, fields?: object) => void lines.push(JSON.stringify({ event, ...fields }))
  const log = { debug: line, info: line, warn: line, error: line }
  const carrier = carrierFor({ ...hub.way('mallory'), client_id: 'bravo', secret_file: '/nowhere' }, 'bravo', [], log)
  await carrier.start(
    async () => [],
    async () => undefined,
  )
  await until(() => lines.some((text) => text.includes('cannot be read')))
  expect((await carrier.health()).ok).toBe(false)
  await carrier.stop()
  expect(await hub.isThere('bravo')).toBe(false)
  const posing = carrierFor(hub.way('mallory'), 'bravo', ['alpha'], log)
  await posing.start(
    async () => [],
    async () => undefined,
  )
  await until(() => lines.some((text) => text.includes('not enrolled as this node')))
  await posing.stop()
  expect(await hub.isThere('bravo')).toBe(false)
  expect([...lines, ...hub.site.logged].filter((text) => text.includes('a-secret-of-more'))).toEqual([])
})
