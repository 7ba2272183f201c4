// A lost message is requested by a signed receipt that a person carries, and goes out again byte for byte.
import * as fs from 'node:fs'
import { join } from 'node:path'
import { describe, expect } from 'vitest'
import type { Jws } from '../../../daemon/kernel/cryptography/signatures.ts'
import { canonicalJson } from '../../../daemon/kernel/encoding/canonical-json.ts'
import type { GapReceipt, ResendReport } from '../../../daemon/kernel/messaging/one-way-control.ts'
import { channel, readRefusal } from '../../support/filedrop/filedrop-readers.ts'
import {
  carryFiles,
  type FiledropSites,
  formatReadyPath,
  listChannelFolders,
  restartSite,
  sendFromAlpha,
} from '../../support/filedrop/filedrop-sites.ts'
import { filedropTest } from '../../support/filedrop/filedrop-test.ts'

const test = filedropTest.extend({ options: { receiving: ['alpha', 'bravo'] } })

const formatStem = (seq: number) => `00000001-${String(seq).padStart(16, '0')}`
const formatAlphaReady = (sites: FiledropSites) => formatReadyPath(sites.alpha, 'bravo')
const formatSentPath = (sites: FiledropSites) => listChannelFolders(sites.alpha, 'bravo').sent
const readOneWay = (sites: FiledropSites) => sites.alpha.transport.oneWay
const readContents = (folder: string) =>
  fs
    .readdirSync(folder)
    .sort()
    .map((name) => [name, fs.readFileSync(join(folder, name), 'utf8')])

/** Sends `count`, all taken by a carrier that loses these numbers. */
async function loseMessages(sites: FiledropSites, count: number, ...lost: number[]): Promise<void> {
  await sendFromAlpha(sites, count)
  carryFiles(sites.alpha, sites.bravo, { only: (name) => !lost.some((seq) => name.startsWith(formatStem(seq))) })
  for (const name of fs.readdirSync(formatAlphaReady(sites))) fs.rmSync(join(formatAlphaReady(sites), name))
  await sites.alpha.transport.rescan()
  await sites.bravo.transport.rescan()
}

function signReceipt(
  sites: FiledropSites,
  changes: Partial<Record<keyof GapReceipt, unknown>>,
  by = sites.bravo,
): Promise<Jws> {
  const receipt = {
    ...{ v: 1, type: 'platform.gap_receipt', channel, src: 'bravo', dst: 'alpha', epoch: 1, highest: 4, floor: 1 },
    missing: [{ first: 2, last: 3 }],
    created: new Date(sites.clock.ms).toISOString(),
    not_after: new Date(sites.clock.ms + 86_400_000).toISOString(),
    ...changes,
  }
  return by.signatures.sign('gap-receipt', Buffer.from(canonicalJson(receipt)))
}

test('a receipt reports missing messages, and those that it names arrive again and are applied', async ({ sites }) => {
  await loseMessages(sites, 6, 2, 4, 5)
  const before = readContents(formatSentPath(sites))
  const receipt = await sites.bravo.transport.oneWay.gapReceipt('alpha')
  expect(JSON.parse(Buffer.from(receipt.payload, 'base64url').toString())).toEqual({
    ...{ v: 1, type: 'platform.gap_receipt', channel, src: 'bravo', dst: 'alpha', epoch: 1, highest: 6, floor: 1 },
    missing: [
      { first: 2, last: 2 },
      { first: 4, last: 5 },
    ],
    created: '2026-03-01T12:00:00.000Z',
    not_after: '2026-03-08T12:00:00.000Z',
  })
  expect(await readOneWay(sites).resendFor(receipt)).toEqual({
    ...{ peer: 'bravo', epoch: 1, resent: 3, waiting: 0, not_resent: [] },
  })
  expect(readContents(formatAlphaReady(sites))).toEqual(
    before.filter(([name = '']) => [2, 4, 5].some((seq) => name.startsWith(formatStem(seq)))),
  )
  carryFiles(sites.alpha, sites.bravo)
  await sites.bravo.transport.rescan()
  expect(sites.bravo.received.map(({ statement }) => statement.seq).sort()).toEqual([1, 2, 3, 4, 5, 6])
  const again = await sites.bravo.transport.oneWay.gapReceipt('alpha')
  expect(JSON.parse(Buffer.from(again.payload, 'base64url').toString())).toMatchObject({ floor: 6, missing: [] })
  expect(readContents(formatSentPath(sites))).toEqual(before)
})

test('a replayed receipt does no harm: what waits is left, what arrived is a duplicate', async ({ sites }) => {
  await loseMessages(sites, 3, 2)
  const receipt = await sites.bravo.transport.oneWay.gapReceipt('alpha')
  for (let i = 0; i < 3; i++) expect(await readOneWay(sites).resendFor(receipt)).toMatchObject({ resent: 1 })
  expect(fs.readdirSync(formatAlphaReady(sites))).toHaveLength(2)
  for (let i = 0; i < 3; i++) {
    await readOneWay(sites).resendFor(receipt)
    carryFiles(sites.alpha, sites.bravo)
    await sites.bravo.transport.rescan()
  }
  expect(sites.bravo.received).toHaveLength(3)
  expect((await sites.bravo.transport.status())[1]).toMatchObject({ duplicates: 2, quarantined: 0, gaps: 0 })
})

test('a range needs no receipt; each number that cannot go is reported with its reason, and the others go', async ({
  sites,
}) => {
  await loseMessages(sites, 7, 1, 2, 3, 4, 5, 6, 7)
  await sendFromAlpha(sites, 1)
  fs.rmSync(join(formatSentPath(sites), `${formatStem(2)}.body.json`))
  fs.writeFileSync(join(formatSentPath(sites), `${formatStem(3)}.body.json`), '{}')
  fs.writeFileSync(
    join(formatSentPath(sites), `${formatStem(4)}.env.json`),
    fs.readFileSync(join(formatSentPath(sites), `${formatStem(5)}.env.json`)),
  )
  await sites.alpha.journal.dropRetained(channel, [{ epoch: 1, seq: 5 }])
  fs.writeFileSync(join(formatAlphaReady(sites), `${formatStem(6)}.body.json`), 'of somebody else')
  expect(await readOneWay(sites).resend({ peer: 'bravo', first: 1, last: 12 })).toEqual({
    ...{ peer: 'bravo', epoch: 1, resent: 2, waiting: 1 },
    not_resent: [
      { first: 2, last: 2, why: 'lost' },
      { first: 3, last: 4, why: 'damaged' },
      { first: 5, last: 5, why: 'not_kept' },
      { first: 6, last: 6, why: 'in_the_way' },
      { first: 9, last: 12, why: 'never_sent' },
    ],
  } satisfies ResendReport)
  expect(fs.readdirSync(formatAlphaReady(sites)).filter((name) => name.endsWith('.env.json'))).toEqual(
    [1, 7, 8].map((seq) => `${formatStem(seq)}.env.json`),
  )
  expect(await readOneWay(sites).resend({ peer: 'bravo', epoch: 2, first: 1, last: 9 })).toMatchObject({
    ...{ epoch: 2, resent: 0, not_resent: [{ first: 1, last: 9, why: 'never_sent' }] },
  })
  expect(await readRefusal(readOneWay(sites).resend({ peer: 'nobody', first: 1, last: 1 }))).toMatchObject({
    code: 'not_found',
  })
})

test('links in sent are not followed', async ({ sites }) => {
  await loseMessages(sites, 1, 1)
  const body = join(formatSentPath(sites), `${formatStem(1)}.body.json`)
  fs.renameSync(body, join(sites.dir, 'elsewhere'))
  fs.symlinkSync(join(sites.dir, 'elsewhere'), body)
  expect((await readOneWay(sites).resend({ peer: 'bravo', first: 1, last: 1 })).not_resent).toEqual([
    { first: 1, last: 1, why: 'damaged' },
  ])
  expect(fs.readdirSync(formatAlphaReady(sites))).toEqual([])
})

test('a call takes a part, says where to go on, and no more a minute than the settings allow', async ({ sites }) => {
  await loseMessages(sites, 5, 1, 2, 3, 4, 5)
  await restartSite(sites.alpha, undefined, { resend_per_min: 3 })
  const first = await readOneWay(sites).resend({ peer: 'bravo', first: 1, last: 5 })
  expect(first).toMatchObject({ resent: 3, next: 4 })
  expect(await readRefusal(readOneWay(sites).resend({ peer: 'bravo', first: 4, last: 5 }))).toMatchObject({
    code: 'rate_limited',
  })
  sites.clock.ms += 60_000
  expect(await readOneWay(sites).resend({ peer: 'bravo', first: 4, last: 5 })).toMatchObject({
    resent: 2,
    not_resent: [],
  })
  const receipt = await signReceipt(sites, { missing: [{ first: 2, last: 5 }], highest: 5 })
  sites.clock.ms += 60_000
  expect(await readOneWay(sites).resendFor(receipt, 5)).toMatchObject({ resent: 1 })
})

test('a claim of a thousand million numbers costs no more than those that there are', async ({ sites }) => {
  await loseMessages(sites, 2, 1, 2)
  const highest = 2 ** 40
  const receipt = await signReceipt(sites, { missing: [{ first: 1, last: highest }], highest, floor: 0 })
  expect(await readOneWay(sites).resendFor(receipt)).toEqual({
    ...{ peer: 'bravo', epoch: 1, resent: 2, waiting: 0 },
    not_resent: [{ first: 3, last: highest, why: 'never_sent' }],
  })
})

test('a message just taken by the carrier, before any look has noticed it, goes out again', async ({ sites }) => {
  await sendFromAlpha(sites, 1)
  for (const name of fs.readdirSync(formatAlphaReady(sites))) fs.rmSync(join(formatAlphaReady(sites), name))
  expect(await readOneWay(sites).resend({ peer: 'bravo', first: 1, last: 1 })).toMatchObject({ resent: 1, waiting: 0 })
  expect(fs.readdirSync(formatAlphaReady(sites))).toHaveLength(2)
})

test('a message sent under a higher ceiling, or to more readers, does not go out again', async ({ sites }) => {
  await loseMessages(sites, 2, 1, 2)
  const bravo = sites.alpha.pinned.get('bravo')
  if (!bravo) throw new Error('bravo is pinned')
  for (const change of [{ ceiling: { ...bravo.ceiling, level: 'UNCLASSIFIED' } }, { tenant_id: 'somebody-else' }]) {
    sites.alpha.pinned.set('bravo', { ...bravo, ...change })
    expect(await readOneWay(sites).resend({ peer: 'bravo', first: 1, last: 2 })).toMatchObject({
      ...{ resent: 0, not_resent: [{ first: 1, last: 2, why: 'label_denied' }] },
    })
    expect(fs.readdirSync(formatAlphaReady(sites))).toEqual([])
  }
  sites.alpha.pinned.set('bravo', bravo)
  expect(await readOneWay(sites).resend({ peer: 'bravo', first: 1, last: 2 })).toMatchObject({ resent: 2 })
})

test('a channel that stands still sends nothing again', async ({ sites }) => {
  await loseMessages(sites, 1, 1)
  await sites.alpha.journal.setState(channel, 'frozen', 'for a test')
  expect(await readRefusal(readOneWay(sites).resend({ peer: 'bravo', first: 1, last: 1 }))).toMatchObject({
    code: 'unavailable',
  })
  expect(fs.readdirSync(formatAlphaReady(sites))).toEqual([])
})

describe('a receipt that is not what it should be', () => {
  test.beforeEach(({ sites }) => loseMessages(sites, 4, 2, 3))
  const made = (sites: FiledropSites) => new Date(sites.clock.ms - 10 * 86_400_000).toISOString()

  test.for<[string, (sites: FiledropSites) => Promise<Jws>, string]>([
    ['signed by this site itself', (sites) => signReceipt(sites, {}, sites.alpha), 'signature_invalid'],
    ['of this site itself', (sites) => signReceipt(sites, { src: 'alpha', dst: 'bravo' }, sites.alpha), 'invalid'],
    ['of nobody known', (sites) => signReceipt(sites, { src: 'charlie' }), 'signature_invalid'],
    ['for another site', (sites) => signReceipt(sites, { dst: 'charlie' }), 'invalid'],
    ['of another channel', (sites) => signReceipt(sites, { channel: 'filedrop/bravo/alpha' }), 'invalid'],
    ['out of time', (sites) => signReceipt(sites, { created: made(sites), not_after: made(sites) }), 'invalid'],
    [
      'of the future',
      (sites) => signReceipt(sites, { created: new Date(sites.clock.ms + 3_600_000).toISOString() }),
      'invalid',
    ],
    ['with a run that falls', (sites) => signReceipt(sites, { missing: [{ first: 3, last: 2 }] }), 'invalid'],
    [
      'with runs that overlap',
      (sites) => signReceipt(sites, { missing: [2, 2].map((first) => ({ first, last: 3 })) }),
      'invalid',
    ],
    ['with runs above its highest', (sites) => signReceipt(sites, { missing: [{ first: 3, last: 9 }] }), 'invalid'],
    ['with runs below its floor', (sites) => signReceipt(sites, { missing: [{ first: 1, last: 2 }] }), 'invalid'],
    ['of a later version', (sites) => signReceipt(sites, { v: 2 }), 'invalid'],
    ['with a member that the format does not know', (sites) => signReceipt(sites, { more: 1 } as never), 'invalid'],
    [
      'signed for another use',
      async (sites) => {
        const { payload } = await signReceipt(sites, {})
        return sites.bravo.signatures.sign('evidence', Buffer.from(payload, 'base64url'))
      },
      'signature_invalid',
    ],
    [
      'changed after it was signed',
      async (sites) => {
        const { payload } = await signReceipt(sites, { missing: [{ first: 2, last: 2 }] })
        return { ...(await signReceipt(sites, {})), payload }
      },
      'signature_invalid',
    ],
    [
      'whose payload is not text',
      async (sites) => ({ ...(await signReceipt(sites, {})), payload: '/w' }),
      'signature_invalid',
    ],
  ])('%s is refused, and nothing goes out', async ([_, receipt, code], { sites }) => {
    expect(await readRefusal(readOneWay(sites).resendFor(await receipt(sites)))).toMatchObject({ code })
    expect(fs.readdirSync(formatAlphaReady(sites))).toEqual([])
  })

  test('by a key that has been revoked, or fewer keys than the peer needs, is refused', async ({ sites }) => {
    const receipt = await signReceipt(sites, {})
    const bravo = sites.alpha.pinned.get('bravo')
    if (!bravo) throw new Error('bravo is pinned')
    sites.alpha.pinned.set('bravo', { ...bravo, threshold: 2 })
    expect(await readRefusal(readOneWay(sites).resendFor(receipt))).toMatchObject({ code: 'signature_invalid' })
    sites.alpha.pinned.set('bravo', { ...bravo, keys: bravo.keys.map((key) => ({ ...key, status: 'revoked' })) })
    expect(await readRefusal(readOneWay(sites).resendFor(receipt))).toMatchObject({ code: 'signature_invalid' })
    expect(fs.readdirSync(formatAlphaReady(sites))).toEqual([])
  })

  test('without a trusted clock its times say nothing', async ({ sites }) => {
    await restartSite(sites.alpha, undefined, { trusted_clock: false })
    const late = await signReceipt(sites, { created: made(sites), not_after: made(sites) })
    expect(await readOneWay(sites).resendFor(late)).toMatchObject({ resent: 2 })
  })
})
