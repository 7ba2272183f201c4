// What was lost on the way is asked for by a signed receipt that a person carries, and goes out again byte for byte.
import * as fs from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { Jws } from '../../../daemon/kernel/cryptography/signatures.ts'
import { canonicalJson } from '../../../daemon/kernel/encoding/canonical-json.ts'
import type { GapReceipt, ResendReport } from '../../../daemon/kernel/messaging/one-way-control.ts'
import {
  carryFiles,
  createFiledropSites,
  type FiledropSites,
  formatReadyPath,
  listChannelFolders,
  restartSite,
  sendFromAlpha,
  startReceiving,
} from './filedrop-sites.ts'

let world: FiledropSites
beforeEach(async () => {
  world = await createFiledropSites()
  await startReceiving(world.alpha)
  await startReceiving(world.bravo)
})
afterEach(() => world.dispose())

const channel = 'filedrop/alpha/bravo'
const formatStem = (seq: number) => `00000001-${String(seq).padStart(16, '0')}`
const formatAlphaReady = () => formatReadyPath(world.alpha, 'bravo')
const formatSentPath = () => listChannelFolders(world.alpha, 'bravo').sent
const readOneWay = () => world.alpha.transport.oneWay
const readRefusal = (asked: Promise<unknown>) =>
  asked.then(
    () => 'nothing',
    (error: { code?: string }) => error.code,
  )
const readContents = (folder: string) =>
  fs
    .readdirSync(folder)
    .sort()
    .map((name) => [name, fs.readFileSync(join(folder, name), 'utf8')])

/** Sends `count`, all taken by a carrier that loses these numbers. */
async function loseMessages(count: number, ...lost: number[]): Promise<void> {
  await sendFromAlpha(world, count)
  carryFiles(world.alpha, world.bravo, { only: (name) => !lost.some((seq) => name.startsWith(formatStem(seq))) })
  for (const name of fs.readdirSync(formatAlphaReady())) fs.rmSync(join(formatAlphaReady(), name))
  await world.alpha.transport.rescan()
  await world.bravo.transport.rescan()
}

function signReceipt(changes: Partial<Record<keyof GapReceipt, unknown>>, by = world.bravo): Promise<Jws> {
  const receipt = {
    ...{ v: 1, type: 'platform.gap_receipt', channel, src: 'bravo', dst: 'alpha', epoch: 1, highest: 4, floor: 1 },
    missing: [{ first: 2, last: 3 }],
    created: new Date(world.clock.ms).toISOString(),
    not_after: new Date(world.clock.ms + 86_400_000).toISOString(),
    ...changes,
  }
  return by.signatures.sign('gap-receipt', Buffer.from(canonicalJson(receipt)))
}

test('a receipt tells what is missing, and what it names comes again and is applied', async () => {
  await loseMessages(6, 2, 4, 5)
  const before = readContents(formatSentPath())
  const receipt = await world.bravo.transport.oneWay.gapReceipt('alpha')
  expect(JSON.parse(Buffer.from(receipt.payload, 'base64url').toString())).toEqual({
    ...{ v: 1, type: 'platform.gap_receipt', channel, src: 'bravo', dst: 'alpha', epoch: 1, highest: 6, floor: 1 },
    missing: [
      { first: 2, last: 2 },
      { first: 4, last: 5 },
    ],
    created: '2026-03-01T12:00:00.000Z',
    not_after: '2026-03-08T12:00:00.000Z',
  })
  expect(await readOneWay().resendFor(receipt)).toEqual({
    ...{ peer: 'bravo', epoch: 1, resent: 3, waiting: 0, not_resent: [] },
  })
  expect(readContents(formatAlphaReady())).toEqual(
    before.filter(([name = '']) => [2, 4, 5].some((seq) => name.startsWith(formatStem(seq)))),
  )
  carryFiles(world.alpha, world.bravo)
  await world.bravo.transport.rescan()
  expect(world.bravo.received.map(({ statement }) => statement.seq).sort()).toEqual([1, 2, 3, 4, 5, 6])
  const again = await world.bravo.transport.oneWay.gapReceipt('alpha')
  expect(JSON.parse(Buffer.from(again.payload, 'base64url').toString())).toMatchObject({ floor: 6, missing: [] })
  expect(readContents(formatSentPath())).toEqual(before)
})

test('a replayed receipt does no harm: what waits is left, what arrived is a duplicate', async () => {
  await loseMessages(3, 2)
  const receipt = await world.bravo.transport.oneWay.gapReceipt('alpha')
  for (let i = 0; i < 3; i++) expect(await readOneWay().resendFor(receipt)).toMatchObject({ resent: 1 })
  expect(fs.readdirSync(formatAlphaReady())).toHaveLength(2)
  for (let i = 0; i < 3; i++) {
    await readOneWay().resendFor(receipt)
    carryFiles(world.alpha, world.bravo)
    await world.bravo.transport.rescan()
  }
  expect(world.bravo.received).toHaveLength(3)
  expect((await world.bravo.transport.status())[1]).toMatchObject({ duplicates: 2, quarantined: 0, gaps: 0 })
})

test('a range needs no receipt; each number that cannot go is told with its reason, and the others go', async () => {
  await loseMessages(7, 1, 2, 3, 4, 5, 6, 7)
  await sendFromAlpha(world, 1)
  fs.rmSync(join(formatSentPath(), `${formatStem(2)}.body.json`))
  fs.writeFileSync(join(formatSentPath(), `${formatStem(3)}.body.json`), '{}')
  fs.writeFileSync(
    join(formatSentPath(), `${formatStem(4)}.env.json`),
    fs.readFileSync(join(formatSentPath(), `${formatStem(5)}.env.json`)),
  )
  await world.alpha.journal.dropRetained(channel, [{ epoch: 1, seq: 5 }])
  fs.writeFileSync(join(formatAlphaReady(), `${formatStem(6)}.body.json`), 'of somebody else')
  expect(await readOneWay().resend({ peer: 'bravo', first: 1, last: 12 })).toEqual({
    ...{ peer: 'bravo', epoch: 1, resent: 2, waiting: 1 },
    not_resent: [
      { first: 2, last: 2, why: 'lost' },
      { first: 3, last: 4, why: 'damaged' },
      { first: 5, last: 5, why: 'not_kept' },
      { first: 6, last: 6, why: 'in_the_way' },
      { first: 9, last: 12, why: 'never_sent' },
    ],
  } satisfies ResendReport)
  expect(fs.readdirSync(formatAlphaReady()).filter((name) => name.endsWith('.env.json'))).toEqual(
    [1, 7, 8].map((seq) => `${formatStem(seq)}.env.json`),
  )
  expect(await readOneWay().resend({ peer: 'bravo', epoch: 2, first: 1, last: 9 })).toMatchObject({
    ...{ epoch: 2, resent: 0, not_resent: [{ first: 1, last: 9, why: 'never_sent' }] },
  })
  expect(await readRefusal(readOneWay().resend({ peer: 'nobody', first: 1, last: 1 }))).toBe('not_found')
})

test('links in sent are not followed', async () => {
  await loseMessages(1, 1)
  const body = join(formatSentPath(), `${formatStem(1)}.body.json`)
  fs.renameSync(body, join(world.dir, 'elsewhere'))
  fs.symlinkSync(join(world.dir, 'elsewhere'), body)
  expect((await readOneWay().resend({ peer: 'bravo', first: 1, last: 1 })).not_resent).toEqual([
    { first: 1, last: 1, why: 'damaged' },
  ])
  expect(fs.readdirSync(formatAlphaReady())).toEqual([])
})

test('a call takes a part, says where to go on, and no more a minute than the settings allow', async () => {
  await loseMessages(5, 1, 2, 3, 4, 5)
  await restartSite(world.alpha, undefined, { resend_per_min: 3 })
  const first = await readOneWay().resend({ peer: 'bravo', first: 1, last: 5 })
  expect(first).toMatchObject({ resent: 3, next: 4 })
  expect(await readRefusal(readOneWay().resend({ peer: 'bravo', first: 4, last: 5 }))).toBe('rate_limited')
  world.clock.ms += 60_000
  expect(await readOneWay().resend({ peer: 'bravo', first: 4, last: 5 })).toMatchObject({ resent: 2, not_resent: [] })
  const receipt = await signReceipt({ missing: [{ first: 2, last: 5 }], highest: 5 })
  world.clock.ms += 60_000
  expect(await readOneWay().resendFor(receipt, 5)).toMatchObject({ resent: 1 })
})

test('a claim of a thousand million numbers costs no more than those that there are', async () => {
  await loseMessages(2, 1, 2)
  const highest = 2 ** 40
  const receipt = await signReceipt({ missing: [{ first: 1, last: highest }], highest, floor: 0 })
  expect(await readOneWay().resendFor(receipt)).toEqual({
    ...{ peer: 'bravo', epoch: 1, resent: 2, waiting: 0 },
    not_resent: [{ first: 3, last: highest, why: 'never_sent' }],
  })
})

test('what the carrier has just taken, and no look has noticed yet, goes out again', async () => {
  await sendFromAlpha(world, 1)
  for (const name of fs.readdirSync(formatAlphaReady())) fs.rmSync(join(formatAlphaReady(), name))
  expect(await readOneWay().resend({ peer: 'bravo', first: 1, last: 1 })).toMatchObject({ resent: 1, waiting: 0 })
  expect(fs.readdirSync(formatAlphaReady())).toHaveLength(2)
})

test('what went out under a higher ceiling, or to more readers, does not go out again', async () => {
  await loseMessages(2, 1, 2)
  const bravo = world.alpha.pinned.get('bravo')
  if (!bravo) throw new Error('bravo is pinned')
  for (const change of [{ ceiling: { ...bravo.ceiling, level: 'UNCLASSIFIED' } }, { tenant_id: 'somebody-else' }]) {
    world.alpha.pinned.set('bravo', { ...bravo, ...change })
    expect(await readOneWay().resend({ peer: 'bravo', first: 1, last: 2 })).toMatchObject({
      ...{ resent: 0, not_resent: [{ first: 1, last: 2, why: 'label_denied' }] },
    })
    expect(fs.readdirSync(formatAlphaReady())).toEqual([])
  }
  world.alpha.pinned.set('bravo', bravo)
  expect(await readOneWay().resend({ peer: 'bravo', first: 1, last: 2 })).toMatchObject({ resent: 2 })
})

test('a channel that stands still sends nothing again', async () => {
  await loseMessages(1, 1)
  await world.alpha.journal.setState(channel, 'frozen', 'for a test')
  expect(await readRefusal(readOneWay().resend({ peer: 'bravo', first: 1, last: 1 }))).toBe('unavailable')
  expect(fs.readdirSync(formatAlphaReady())).toEqual([])
})

describe('a receipt that is not what it should be', () => {
  beforeEach(() => loseMessages(4, 2, 3))
  const made = () => new Date(world.clock.ms - 10 * 86_400_000).toISOString()

  test.each<[string, () => Promise<Jws>, string]>([
    ['signed by this site itself', () => signReceipt({}, world.alpha), 'signature_invalid'],
    ['of this site itself', () => signReceipt({ src: 'alpha', dst: 'bravo' }, world.alpha), 'invalid'],
    ['of nobody known', () => signReceipt({ src: 'charlie' }), 'signature_invalid'],
    ['for another site', () => signReceipt({ dst: 'charlie' }), 'invalid'],
    ['of another channel', () => signReceipt({ channel: 'filedrop/bravo/alpha' }), 'invalid'],
    ['out of time', () => signReceipt({ created: made(), not_after: made() }), 'invalid'],
    ['of the future', () => signReceipt({ created: new Date(world.clock.ms + 3_600_000).toISOString() }), 'invalid'],
    ['with a run that falls', () => signReceipt({ missing: [{ first: 3, last: 2 }] }), 'invalid'],
    ['with runs that overlap', () => signReceipt({ missing: [2, 2].map((first) => ({ first, last: 3 })) }), 'invalid'],
    ['with runs above its highest', () => signReceipt({ missing: [{ first: 3, last: 9 }] }), 'invalid'],
    ['with runs below its floor', () => signReceipt({ missing: [{ first: 1, last: 2 }] }), 'invalid'],
    ['of a later version', () => signReceipt({ v: 2 }), 'invalid'],
    ['with a member that the format does not know', () => signReceipt({ more: 1 } as never), 'invalid'],
    [
      'signed for another use',
      async () => {
        const { payload } = await signReceipt({})
        return world.bravo.signatures.sign('evidence', Buffer.from(payload, 'base64url'))
      },
      'signature_invalid',
    ],
    [
      'changed after it was signed',
      async () => {
        const { payload } = await signReceipt({ missing: [{ first: 2, last: 2 }] })
        return { ...(await signReceipt({})), payload }
      },
      'signature_invalid',
    ],
    ['whose payload is no text', async () => ({ ...(await signReceipt({})), payload: '/w' }), 'signature_invalid'],
  ])('%s is refused, and nothing goes out', async (_, receipt, code) => {
    expect(await readRefusal(readOneWay().resendFor(await receipt()))).toBe(code)
    expect(fs.readdirSync(formatAlphaReady())).toEqual([])
  })

  test('by a key that has been revoked, or fewer keys than the peer needs, is refused', async () => {
    const receipt = await signReceipt({})
    const bravo = world.alpha.pinned.get('bravo')
    if (!bravo) throw new Error('bravo is pinned')
    world.alpha.pinned.set('bravo', { ...bravo, threshold: 2 })
    expect(await readRefusal(readOneWay().resendFor(receipt))).toBe('signature_invalid')
    world.alpha.pinned.set('bravo', { ...bravo, keys: bravo.keys.map((key) => ({ ...key, status: 'revoked' })) })
    expect(await readRefusal(readOneWay().resendFor(receipt))).toBe('signature_invalid')
    expect(fs.readdirSync(formatAlphaReady())).toEqual([])
  })

  test('without a trusted clock its times say nothing', async () => {
    await restartSite(world.alpha, undefined, { trusted_clock: false })
    const late = await signReceipt({ created: made(), not_after: made() })
    expect(await readOneWay().resendFor(late)).toMatchObject({ resent: 2 })
  })
})
