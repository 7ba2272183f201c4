// Messages for a role that the receiver does not run: they wait safely, and nothing else of the channel waits for them.
import * as fs from 'node:fs'
import { describe, expect } from 'vitest'
import type { FiledropOptions } from '../../../adapters/transport/filedrop/filedrop-context.ts'
import type { DeliveryVerdict, InboundMessage } from '../../../daemon/kernel/messaging/transport.ts'
import {
  channel,
  listAuditRecords,
  listReasons,
  listReceivedNumbers,
  readFolders,
  readInStatus,
  readRefusal,
  scanBravo,
} from '../../support/filedrop/filedrop-readers.ts'
import { carryFiles, type FiledropSites, restartSite, sendFromAlpha } from '../../support/filedrop/filedrop-sites.ts'
import { filedropTest } from '../../support/filedrop/filedrop-test.ts'

const test = filedropTest.extend({
  options: { receiving: ['alpha'], peer: { inventory_interval_s: 400 * 86_400 } },
})
const day_ms = 86_400_000

/** As the roles of a site divide them. */
const receiverOf: FiledropOptions['receiverOf'] = (kind) => (kind === 'signal' ? 'intelligence' : 'consensus')

type Roles = Readonly<Record<string, DeliveryVerdict['verdict']>>

const answerOf =
  (roles: Roles) =>
  ({ statement }: InboundMessage): DeliveryVerdict => {
    const verdict = roles[receiverOf(statement.kind)] ?? 'applied'
    return verdict === 'applied' ? { verdict } : { verdict, detail: 'not here', code: 'invalid' }
  }

const startBravo = (sites: FiledropSites, roles: Roles, settings = {}) =>
  restartSite(sites.bravo, answerOf(roles), settings, { receiverOf })

const absent = { intelligence: 'set_aside' } as const

/** 1 a result, 2 a signal, 3 a signal, 4 a result. */
async function sendMixed(sites: FiledropSites): Promise<void> {
  await sendFromAlpha(sites, 1, { kind: 'result' })
  await sendFromAlpha(sites, 2, { kind: 'signal' })
  await sendFromAlpha(sites, 1, { kind: 'result' })
  carryFiles(sites.alpha, sites.bravo)
  await scanBravo(sites)
}

const discard = (sites: FiledropSites, first: number, last: number) =>
  sites.bravo.transport.oneWay.discard('alpha', { first, last }, 'not used here', () => [])

test('it is set aside by kind, counted as arrived, and the others flow on', async ({ sites }) => {
  await startBravo(sites, absent)
  await sendMixed(sites)
  expect(listReceivedNumbers(sites)).toEqual([1, 4])
  expect(await readInStatus(sites)).toMatchObject({
    ...{ state: 'open', detail: '', next_seq: 5, gaps: 0, held: 0, backlog: 0, quarantined: 0 },
    set_aside: [{ role: 'intelligence', kind: 'signal', messages: 2 }],
  })
  expect(await sites.bravo.transport.health()).toEqual({
    ok: true,
    detail: 'alpha in: 2 of kind signal wait for role intelligence, which this site does not run',
  })
  for (let i = 0; i < 3; i++) await scanBravo(sites)
  const records = await listAuditRecords(sites, 'filedrop.message.set_aside')
  expect(records.map(({ event }) => event?.detail).reverse()).toMatchObject([
    { seq: 2, kind: 'signal', role: 'intelligence' },
    { seq: 3, kind: 'signal', role: 'intelligence' },
  ])
  expect(sites.bravo.events.some(({ event }) => event === 'filedrop.intake.paused')).toBe(false)
})

test('an acknowledgement covers it: the sender learns nothing of the roles of the receiver', async ({ sites }) => {
  await startBravo(sites, absent)
  await sendMixed(sites)
  const { payload } = await sites.bravo.transport.oneWay.gapReceipt('alpha')
  const receipt = JSON.parse(Buffer.from(payload, 'base64url').toString())
  expect(receipt).toMatchObject({ floor: 4, highest: 4, missing: [] })
  expect(JSON.stringify(receipt)).not.toMatch(/role|aside/)
})

test.for(['after a restart', 'in the running process'])(
  'it is applied in order when the role comes %s',
  async (when, { sites }) => {
    const roles: Record<string, DeliveryVerdict['verdict']> = { ...absent }
    await restartSite(sites.bravo, (message) => answerOf(roles)(message), {}, { receiverOf })
    await sendMixed(sites)
    await sendFromAlpha(sites, 1, { kind: 'signal' })
    carryFiles(sites.alpha, sites.bravo)
    roles.intelligence = 'applied'
    if (when === 'after a restart') await startBravo(sites, roles)
    else await scanBravo(sites)
    expect(listReceivedNumbers(sites)).toEqual([1, 4, 2, 3, 5])
    expect(await readInStatus(sites)).toMatchObject({ set_aside: [], received: 5, backlog: 0, quarantined: 0 })
    expect(fs.readdirSync(readFolders(sites).work)).toEqual([])
    expect(fs.readdirSync(readFolders(sites).done)).toHaveLength(10)
  },
)

test('a message that arrives behind one that is set aside does not overtake it', async ({ sites }) => {
  let calls = 0
  // The role comes between two deliveries of one scan.
  await restartSite(sites.bravo, () =>
    ++calls === 1 ? { verdict: 'set_aside', detail: 'no' } : { verdict: 'applied' },
  )
  await sendFromAlpha(sites, 3, { kind: 'signal' })
  carryFiles(sites.alpha, sites.bravo)
  await scanBravo(sites)
  expect(listReceivedNumbers(sites)).toEqual([])
  await scanBravo(sites)
  expect(listReceivedNumbers(sites)).toEqual([1, 2, 3])
})

test('it waits over kills of the process without an attempt against it, and without another audit record', async ({
  sites,
}) => {
  await startBravo(sites, absent)
  await sendMixed(sites)
  for (let i = 0; i < 5; i++) await startBravo(sites, absent)
  expect(listReasons(sites)).toEqual([])
  expect(await listAuditRecords(sites, 'filedrop.message.set_aside')).toHaveLength(2)
  await startBravo(sites, {})
  expect(listReceivedNumbers(sites)).toEqual([1, 4, 2, 3])
})

test('its files are lost: it is missing again, and is applied when it comes again', async ({ sites }) => {
  await startBravo(sites, absent)
  await sendMixed(sites)
  for (const file of fs.readdirSync(readFolders(sites).work)) fs.rmSync(`${readFolders(sites).work}/${file}`)
  await scanBravo(sites)
  expect(await readInStatus(sites)).toMatchObject({ next_seq: 2, gaps: 2, set_aside: [] })
  await sites.alpha.transport.rescan()
  await sites.alpha.transport.oneWay.resendFor(await sites.bravo.transport.oneWay.gapReceipt('alpha'))
  carryFiles(sites.alpha, sites.bravo)
  await startBravo(sites, {})
  expect(listReceivedNumbers(sites)).toEqual([1, 4, 2, 3])
})

test('a second copy is a duplicate', async ({ sites }) => {
  await startBravo(sites, absent)
  await sendMixed(sites)
  await sites.alpha.transport.rescan()
  await sites.alpha.transport.oneWay.resend({ peer: 'bravo', first: 2, last: 3 })
  carryFiles(sites.alpha, sites.bravo)
  await scanBravo(sites)
  expect(await readInStatus(sites)).toMatchObject({ duplicates: 2, set_aside: [{ messages: 2 }] })
  expect(fs.readdirSync(readFolders(sites).fresh)).toEqual([])
})

test('without a role it expires with its validity, and the reason names the role', async ({ sites }) => {
  await startBravo(sites, absent)
  await sendMixed(sites)
  sites.clock.ms += 7 * day_ms + 900_000
  await scanBravo(sites)
  expect(listReasons(sites)).toEqual([])
  sites.clock.ms += 1
  await scanBravo(sites)
  expect(listReasons(sites)).toEqual(['EXPIRED', 'EXPIRED'])
  const [first] = await listAuditRecords(sites, 'filedrop.message.quarantined')
  expect(first?.event?.detail).toMatchObject({
    reason: 'EXPIRED',
    detail: expect.stringContaining('role intelligence'),
  })
  expect(await readInStatus(sites)).toMatchObject({ set_aside: [], gaps: 0, quarantined: 2 })
})

test('at the end of its validity it is applied, not expired, if the role is there', async ({ sites }) => {
  await startBravo(sites, absent)
  await sendMixed(sites)
  sites.clock.ms += 30 * day_ms
  await startBravo(sites, {})
  expect(listReceivedNumbers(sites)).toEqual([1, 4, 2, 3])
})

describe('a person discards it', () => {
  test('by its numbers: it is quarantined with the reason of the person, and stays so when the role comes', async ({
    sites,
  }) => {
    await startBravo(sites, absent)
    await sendMixed(sites)
    expect(await sites.bravo.transport.oneWay.waiting('alpha')).toMatchObject([
      { seq: 2, kind: 'signal', waits_for: 'role', role: 'intelligence' },
      { seq: 3, kind: 'signal', waits_for: 'role', role: 'intelligence' },
    ])
    expect(await discard(sites, 1, 2)).toEqual({ peer: 'alpha', epoch: 1, numbers: 1 })
    expect(await discard(sites, 1, 2)).toEqual({ peer: 'alpha', epoch: 1, numbers: 0 })
    const [first] = await listAuditRecords(sites, 'filedrop.message.quarantined')
    expect(first?.event?.detail).toMatchObject({ seq: 2, reason: 'REFUSED', code: 'discarded' })
    await startBravo(sites, {})
    expect(listReceivedNumbers(sites)).toEqual([1, 4, 3])
    expect(listReasons(sites)).toEqual(['REFUSED'])
  })

  test('not while the channel takes nothing in, nor for an unknown peer', async ({ sites }) => {
    await startBravo(sites, absent)
    await sendMixed(sites)
    await sites.bravo.journal.setState(channel, 'frozen', 'for a test')
    expect(await readRefusal(discard(sites, 1, 9))).toMatchObject({ code: 'conflict' })
    const atNobody = sites.bravo.transport.oneWay.discard('nobody', { first: 1, last: 1 }, 'unused', () => [])
    expect(await readRefusal(atNobody)).toMatchObject({ code: 'not_found' })
  })
})

describe('the room is bounded', () => {
  test.for([
    ['in messages', { set_aside_max_messages: 1 }],
    ['in bytes', { set_aside_max_bytes: 2_000 }],
  ] as const)('%s: the rest stays missing, and is taken when it comes again', async ([_, settings], { sites }) => {
    await startBravo(sites, absent, settings)
    await sendMixed(sites)
    expect(listReasons(sites)).toEqual(['QUOTA'])
    expect(await readInStatus(sites)).toMatchObject({ gaps: 1, next_seq: 3, set_aside: [{ messages: 1 }] })
    await sites.alpha.transport.rescan()
    const resend = async () => {
      await sites.alpha.transport.oneWay.resendFor(await sites.bravo.transport.oneWay.gapReceipt('alpha'))
      carryFiles(sites.alpha, sites.bravo)
      await sites.alpha.transport.rescan()
    }
    // While there is no room, a further copy of the same bytes takes none in quarantine either.
    for (let i = 0; i < 3; i++) {
      await resend()
      await scanBravo(sites)
    }
    expect(listReasons(sites)).toEqual(['QUOTA'])
    expect(await listAuditRecords(sites, 'filedrop.message.quarantined')).toHaveLength(1)
    await resend()
    await startBravo(sites, {})
    expect(listReceivedNumbers(sites).sort()).toEqual([1, 2, 3, 4])
    expect(await readInStatus(sites)).toMatchObject({ gaps: 0, set_aside: [] })
  })
})

describe('a role that the site runs, and that cannot take messages now', () => {
  const down = { intelligence: 'later' } as const

  test('holds up its own messages alone, and is named', async ({ sites }) => {
    await startBravo(sites, down)
    await sendMixed(sites)
    expect(listReceivedNumbers(sites)).toEqual([1, 4])
    expect(await readInStatus(sites)).toMatchObject({
      ...{ detail: 'intake pauses: not here; messages for role intelligence wait', backlog: 2, gaps: 0, set_aside: [] },
    })
    for (let i = 0; i < 4; i++) await startBravo(sites, down)
    await startBravo(sites, {})
    expect(listReceivedNumbers(sites)).toEqual([1, 4, 2, 3])
    expect(await readInStatus(sites)).toMatchObject({ detail: '', backlog: 0, quarantined: 0 })
  })

  test('is tried once by each scan, however many messages wait for it', async ({ sites }) => {
    let calls = 0
    await restartSite(
      sites.bravo,
      (message) => {
        if (message.statement.kind === 'signal') calls += 1
        return answerOf(down)(message)
      },
      {},
      { receiverOf },
    )
    await sendFromAlpha(sites, 20, { kind: 'signal' })
    carryFiles(sites.alpha, sites.bravo)
    await scanBravo(sites)
    expect(calls).toBe(1)
    await scanBravo(sites)
    expect(calls).toBe(2)
  })

  test('set aside once the site does not run it any more', async ({ sites }) => {
    await startBravo(sites, down)
    await sendMixed(sites)
    await startBravo(sites, absent)
    expect(await readInStatus(sites)).toMatchObject({ backlog: 0, set_aside: [{ messages: 2 }] })
  })
})
