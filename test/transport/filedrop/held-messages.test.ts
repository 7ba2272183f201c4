// Messages behind a gap: bounded in number and age, cleared by people, and never in the way of honest ones.
import * as fs from 'node:fs'
import { describe, expect } from 'vitest'
import {
  listAuditRecords,
  listReasons,
  listReceivedNumbers,
  readFolders,
  readInStatus,
  readRefusal,
  scanBravo,
  upTo,
  zeros,
} from '../../support/filedrop/filedrop-readers.ts'
import {
  carryFiles,
  type FiledropSites,
  listQuarantineReasons,
  restartSite,
  sendFromAlpha,
  start_ms,
} from '../../support/filedrop/filedrop-sites.ts'
import { filedropTest } from '../../support/filedrop/filedrop-test.ts'
import { dropMessage, type ForgedMessage, forgeMessage } from '../../support/filedrop/forge-message.ts'

const test = filedropTest.extend({
  options: { receiving: ['alpha', 'bravo'], peer: { inventory_interval_s: 400 * 86_400 } },
})
const day_ms = 86_400_000
const falseDigest = 'f'.repeat(96)

/** Invitations with these numbers, each naming the one before it; the first names `prev`. */
async function forgeRun(
  sites: FiledropSites,
  numbers: readonly number[],
  prev = falseDigest,
): Promise<ForgedMessage[]> {
  const made: ForgedMessage[] = []
  for (const seq of numbers)
    made.push(await forgeMessage(sites, { seq, statement: { kind: 'invitation', prev: made.at(-1)?.digest ?? prev } }))
  return made
}

const oneWay = (sites: FiledropSites) => sites.bravo.transport.oneWay

describe('a run behind a gap whose first message names a false predecessor', () => {
  const max_held = 8

  test('is broken by the message that fills the gap, and does not hold that message up', async ({ sites }) => {
    await restartSite(sites.bravo, undefined, { max_held })
    for (const each of await forgeRun(sites, [2, 3, 4, 5])) dropMessage(sites, each)
    await scanBravo(sites)
    expect(await readInStatus(sites)).toMatchObject({ held: 4, gaps: 1 })
    dropMessage(sites, await forgeMessage(sites, { statement: { kind: 'invitation' } }))
    await scanBravo(sites)
    await scanBravo(sites)
    expect(
      listQuarantineReasons(sites.bravo, 'alpha').map(({ reason, name }) => [reason, Number(name.slice(9, 25))]),
    ).toEqual([['CHAIN_BREAK', 2]])
    expect(listReceivedNumbers(sites)).toEqual([1, 3, 4, 5])
    expect(await readInStatus(sites)).toMatchObject({ held: 0, gaps: 0, state: 'open' })
    expect(await listAuditRecords(sites, 'filedrop.message.quarantined')).toHaveLength(1)
  })

  test('takes no room from messages that follow: they stay missing, and are taken when they come again', async ({
    sites,
  }) => {
    await restartSite(sites.bravo, undefined, { max_held })
    for (const seq of upTo(max_held)) dropMessage(sites, (await forgeRun(sites, [seq * 2]))[0] as ForgedMessage)
    await scanBravo(sites)
    const honest = (await forgeRun(sites, [20]))[0] as ForgedMessage
    for (let i = 0; i < 3; i++) {
      dropMessage(sites, honest)
      await scanBravo(sites)
    }
    expect(listReasons(sites)).toEqual(['QUOTA'])
    expect(await listAuditRecords(sites, 'filedrop.message.quarantined')).toHaveLength(1)
    expect(await sites.bravo.journal.gaps('filedrop/alpha/bravo', 1, 99)).toContainEqual({ first: 17, last: 20 })
    await oneWay(sites).skip('alpha', { first: 1, last: 19 }, () => [])
    dropMessage(sites, honest)
    await scanBravo(sites)
    expect(listReceivedNumbers(sites)).toEqual([...upTo(max_held).map((each) => each * 2), 20])
  })

  test('the bound holds over a restart', async ({ sites }) => {
    await restartSite(sites.bravo, undefined, { max_held: 2 })
    for (const each of await forgeRun(sites, [5, 6])) dropMessage(sites, each)
    await scanBravo(sites)
    dropMessage(sites, (await forgeRun(sites, [2]))[0] as ForgedMessage)
    await restartSite(sites.bravo, undefined, { max_held: 2 })
    expect(listReasons(sites)).toEqual(['QUOTA'])
    expect(await readInStatus(sites)).toMatchObject({ held: 2 })
  })
})

test('a message lost for want of room is judged by its link again', async ({ sites }) => {
  await restartSite(sites.bravo, undefined, { max_held: 0 })
  const [broken] = await forgeRun(sites, [2])
  dropMessage(sites, broken as ForgedMessage)
  await scanBravo(sites)
  const first = await forgeMessage(sites, { statement: { kind: 'invitation' } })
  dropMessage(sites, first)
  await scanBravo(sites)
  expect(listReceivedNumbers(sites)).toEqual([1])
  dropMessage(sites, broken as ForgedMessage)
  await scanBravo(sites)
  expect(listReasons(sites).sort()).toEqual(['CHAIN_BREAK', 'QUOTA'])
})

test('a held message expires with its validity, and the reason names the number that it waited for', async ({
  sites,
}) => {
  const not_after = new Date(start_ms + day_ms).toISOString()
  dropMessage(sites, await forgeMessage(sites, { seq: 3, statement: { kind: 'result', prev: falseDigest, not_after } }))
  await scanBravo(sites)
  sites.clock.ms += day_ms + 900_000
  await restartSite(sites.bravo)
  expect(listReasons(sites)).toEqual([])
  sites.clock.ms += 1
  await restartSite(sites.bravo)
  expect(listQuarantineReasons(sites.bravo, 'alpha')).toMatchObject([
    { reason: 'EXPIRED', detail: 'it expired while it waited for number 1, which is missing' },
  ])
  expect(await readInStatus(sites)).toMatchObject({ held: 0, backlog: 0 })
})

test('with an untrusted clock nothing expires', async ({ sites }) => {
  await restartSite(sites.bravo, undefined, { trusted_clock: false })
  dropMessage(sites, await forgeMessage(sites, { seq: 3, statement: { kind: 'result', prev: falseDigest } }))
  await scanBravo(sites)
  sites.clock.ms += 400 * day_ms
  await scanBravo(sites)
  expect(await readInStatus(sites)).toMatchObject({ held: 1, quarantined: 0 })
})

describe('messages of an epoch that never opens', () => {
  const dropEarly = async (sites: FiledropSites, seq: number) =>
    dropMessage(sites, await forgeMessage(sites, { epoch: 2, seq, statement: { kind: 'result', prev: falseDigest } }))

  test('take no room from those behind a gap', async ({ sites }) => {
    await restartSite(sites.bravo, undefined, { max_held: 2 })
    for (const seq of [2, 3]) await dropEarly(sites, seq)
    for (const each of await forgeRun(sites, [2, 3])) dropMessage(sites, each)
    await scanBravo(sites)
    expect([await readInStatus(sites), listReasons(sites)]).toMatchObject([{ held: 4 }, []])
  })

  test('expire, and their numbers stay free', async ({ sites }) => {
    await dropEarly(sites, 2)
    await scanBravo(sites)
    sites.clock.ms += 7 * day_ms + 900_001
    await scanBravo(sites)
    expect(listQuarantineReasons(sites.bravo, 'alpha')).toMatchObject([
      { reason: 'EXPIRED', detail: 'it expired while it waited for the announcement of epoch 2' },
    ])
    expect(await sites.bravo.journal.entry('filedrop/alpha/bravo', 2, 2)).toBeUndefined()
  })

  test('can be discarded, also after a restart', async ({ sites }) => {
    await dropEarly(sites, 2)
    await scanBravo(sites)
    await restartSite(sites.bravo)
    expect(await oneWay(sites).waiting('alpha')).toMatchObject([{ epoch: 2, seq: 2, waits_for: 'epoch' }])
    expect(await oneWay(sites).discard('alpha', { epoch: 2, first: 1, last: 9 }, 'x', () => [])).toMatchObject({
      numbers: 1,
    })
    expect([await readInStatus(sites), listReasons(sites)]).toMatchObject([{ held: 0, backlog: 0 }, ['REFUSED']])
  })
})

describe('a person gives missing numbers up', () => {
  const skip = (sites: FiledropSites, first: number, last: number) =>
    oneWay(sites).skip('alpha', { first, last }, (of) => [
      {
        ...{ at: '2026-03-01T12:00:00Z', action: 'site.gap.skip', outcome: 'done', tenant_id: 'tenant-bravo' },
        ...{ subject: 'ann', target: of, trace_id: '0', detail: { reason: 'lost', first, last } },
      },
    ])

  test('what waits behind them is applied, with one audit record, and no receipt lists them', async ({ sites }) => {
    await sendFromAlpha(sites, 3, { kind: 'result' })
    carryFiles(sites.alpha, sites.bravo, { only: (file) => file.includes('0000003.') })
    await scanBravo(sites)
    expect(await oneWay(sites).waiting('alpha')).toMatchObject([{ seq: 3, waits_for: 'number', missing: 1 }])
    expect(await skip(sites, 1, 1)).toEqual({ peer: 'alpha', epoch: 1, numbers: 1 })
    await scanBravo(sites)
    expect(listReceivedNumbers(sites)).toEqual([])
    expect(await skip(sites, 1, 99)).toMatchObject({ numbers: 1 })
    expect(await skip(sites, 1, 99)).toMatchObject({ numbers: 0 })
    await scanBravo(sites)
    expect(listReceivedNumbers(sites)).toEqual([3])
    expect(await readInStatus(sites)).toMatchObject({ gaps: 0, next_seq: 4 })
    const records = await listAuditRecords(sites, 'site.gap.skip')
    expect(records.map(({ event }) => event?.subject)).toEqual(['ann', 'ann'])
  })

  test('a message that arrives later under such a number is refused if its kind is ordered, without a freeze', async ({
    sites,
  }) => {
    await sendFromAlpha(sites, 1, { kind: 'result' })
    await sendFromAlpha(sites, 1)
    await sendFromAlpha(sites, 1, { kind: 'result' })
    carryFiles(sites.alpha, sites.bravo, { only: (file) => file.includes('0000003.') })
    await scanBravo(sites)
    await skip(sites, 1, 2)
    await scanBravo(sites)
    carryFiles(sites.alpha, sites.bravo)
    await scanBravo(sites)
    expect(listReceivedNumbers(sites)).toEqual([3, 2])
    expect(listQuarantineReasons(sites.bravo, 'alpha')).toMatchObject([{ reason: 'REFUSED', code: 'skipped' }])
    expect(await readInStatus(sites)).toMatchObject({ state: 'open', gaps: 0, next_seq: 4 })
  })

  test('many at once, and not beyond what is known to be missing', async ({ sites }) => {
    dropMessage(sites, await forgeMessage(sites, { seq: 3_000, statement: { kind: 'result', prev: falseDigest } }))
    await scanBravo(sites)
    expect(await skip(sites, 1, 99_999)).toMatchObject({ numbers: 2_999 })
    await scanBravo(sites)
    expect(listReceivedNumbers(sites)).toEqual([3_000])
    expect(await readInStatus(sites)).toMatchObject({ next_seq: 3_001, highest_seq: 3_000 })
  })

  test('not while the channel is frozen', async ({ sites }) => {
    await sites.bravo.journal.setState('filedrop/alpha/bravo', 'frozen', 'for a test')
    expect(await readRefusal(skip(sites, 1, 1))).toMatchObject({ code: 'conflict' })
  })

  test('after the carrier has stopped no decision hangs', async ({ sites }) => {
    const decision = skip(sites, 1, 1)
    await sites.bravo.transport.stop()
    expect(['nothing', 'conflict']).toContain((await readRefusal(decision)).code)
  })
})

describe('a second message under the number of one that waits', () => {
  test('other content freezes the channel at once, and both envelopes are kept', async ({ sites }) => {
    dropMessage(sites, await forgeMessage(sites, { seq: 2, statement: { kind: 'result', prev: falseDigest } }))
    await scanBravo(sites)
    dropMessage(sites, await forgeMessage(sites, { seq: 2, statement: { kind: 'result', prev: zeros } }))
    await scanBravo(sites)
    expect(await readInStatus(sites)).toMatchObject({ state: 'frozen', held: 1 })
    const [item] = listQuarantineReasons(sites.bravo, 'alpha')
    expect(item).toMatchObject({ reason: 'EQUIVOCATION' })
    expect(item?.files.some(({ name }) => name.includes('first-1-2'))).toBe(true)
    expect(fs.readdirSync(readFolders(sites).work)).toHaveLength(2)
  })

  test('the same content is a duplicate, and the first copy goes on waiting', async ({ sites }) => {
    const made = await forgeMessage(sites, { seq: 2, statement: { kind: 'result', prev: falseDigest } })
    for (let i = 0; i < 3; i++) {
      dropMessage(sites, made)
      await scanBravo(sites)
    }
    expect(await readInStatus(sites)).toMatchObject({ held: 1, duplicates: 2, backlog: 1, quarantined: 0 })
    expect(fs.readdirSync(readFolders(sites).fresh)).toEqual([])
  })

  test('a broken copy is quarantined, and half of one is left alone', async ({ sites }) => {
    const made = await forgeMessage(sites, { seq: 2, statement: { kind: 'result', prev: falseDigest } })
    dropMessage(sites, made)
    await scanBravo(sites)
    dropMessage(sites, { ...made, envelope: made.envelope.replace(/"signature":"..../, '"signature":"AAAA') })
    await scanBravo(sites)
    expect(listReasons(sites)).toEqual(['BAD_SIG'])
    dropMessage(sites, { ...made, envelope: made.envelope.slice(0, 40) })
    for (let i = 0; i < 3; i++) await scanBravo(sites)
    expect(await readInStatus(sites)).toMatchObject({ held: 1, state: 'open', gaps: 1 })
    expect(listReasons(sites)).toEqual(['BAD_SIG'])
  })
})
