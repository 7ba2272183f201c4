// What was lost on the way is asked for by a signed receipt that a person carries, and goes out again byte for byte.
import * as fs from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { canonical } from '../../../daemon/kernel/canonical.ts'
import type { Jws } from '../../../daemon/kernel/keys.ts'
import type { GapReceipt, Resent } from '../../../daemon/kernel/one-way.ts'
import {
  carry,
  incomingOf,
  readyOf,
  restart,
  sendFromAlpha,
  startReceiving,
  twoSites,
  type World,
} from './two-sites.ts'

let world: World
beforeEach(async () => {
  world = await twoSites()
  await startReceiving(world.alpha)
  await startReceiving(world.bravo)
})
afterEach(() => world.dispose())

const channel = 'filedrop/alpha/bravo'
const stem = (seq: number) => `00000001-${String(seq).padStart(16, '0')}`
const ready = () => readyOf(world.alpha, 'bravo')
const sent = () => incomingOf(world.alpha, 'bravo').sent
const oneWay = () => world.alpha.transport.oneWay
const refusal = (asked: Promise<unknown>) =>
  asked.then(
    () => 'nothing',
    (error: { code?: string }) => error.code,
  )
const contents = (folder: string) =>
  fs
    .readdirSync(folder)
    .sort()
    .map((name) => [name, fs.readFileSync(join(folder, name), 'utf8')])

/** Sends `count`, all taken by a carrier that loses these numbers. */
async function lose(count: number, ...lost: number[]): Promise<void> {
  await sendFromAlpha(world, count)
  carry(world.alpha, world.bravo, { only: (name) => !lost.some((seq) => name.startsWith(stem(seq))) })
  for (const name of fs.readdirSync(ready())) fs.rmSync(join(ready(), name))
  await world.alpha.transport.rescan()
  await world.bravo.transport.rescan()
}

function receiptWith(changes: Partial<Record<keyof GapReceipt, unknown>>, by = world.bravo): Promise<Jws> {
  const receipt = {
    ...{ v: 1, type: 'platform.gap_receipt', channel, src: 'bravo', dst: 'alpha', epoch: 1, highest: 4, floor: 1 },
    missing: [{ first: 2, last: 3 }],
    created: new Date(world.clock.ms).toISOString(),
    not_after: new Date(world.clock.ms + 86_400_000).toISOString(),
    ...changes,
  }
  return by.signatures.sign('gap-receipt', Buffer.from(canonical(receipt)))
}

test('a receipt tells what is missing, and what it names comes again and is applied', async () => {
  await lose(6, 2, 4, 5)
  const before = contents(sent())
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
  expect(await oneWay().resendFor(receipt)).toEqual({
    ...{ peer: 'bravo', epoch: 1, resent: 3, waiting: 0, not_resent: [] },
  })
  expect(contents(ready())).toEqual(before.filter(([name = '']) => [2, 4, 5].some((seq) => name.startsWith(stem(seq)))))
  carry(world.alpha, world.bravo)
  await world.bravo.transport.rescan()
  expect(world.bravo.received.map(({ statement }) => statement.seq).sort()).toEqual([1, 2, 3, 4, 5, 6])
  const again = await world.bravo.transport.oneWay.gapReceipt('alpha')
  expect(JSON.parse(Buffer.from(again.payload, 'base64url').toString())).toMatchObject({ floor: 6, missing: [] })
  expect(contents(sent())).toEqual(before)
})

test('a replayed receipt does no harm: what waits is left, what arrived is a duplicate', async () => {
  await lose(3, 2)
  const receipt = await world.bravo.transport.oneWay.gapReceipt('alpha')
  for (let i = 0; i < 3; i++) expect(await oneWay().resendFor(receipt)).toMatchObject({ resent: 1 })
  expect(fs.readdirSync(ready())).toHaveLength(2)
  for (let i = 0; i < 3; i++) {
    await oneWay().resendFor(receipt)
    carry(world.alpha, world.bravo)
    await world.bravo.transport.rescan()
  }
  expect(world.bravo.received).toHaveLength(3)
  expect((await world.bravo.transport.status())[1]).toMatchObject({ duplicates: 2, quarantined: 0, gaps: 0 })
})

test('a range needs no receipt; each number that cannot go is told with its reason, and the others go', async () => {
  await lose(7, 1, 2, 3, 4, 5, 6, 7)
  await sendFromAlpha(world, 1)
  fs.rmSync(join(sent(), `${stem(2)}.body.json`))
  fs.writeFileSync(join(sent(), `${stem(3)}.body.json`), '{}')
  fs.writeFileSync(join(sent(), `${stem(4)}.env.json`), fs.readFileSync(join(sent(), `${stem(5)}.env.json`)))
  await world.alpha.journal.dropKept(channel, [{ epoch: 1, seq: 5 }])
  fs.writeFileSync(join(ready(), `${stem(6)}.body.json`), 'of somebody else')
  expect(await oneWay().resend({ peer: 'bravo', first: 1, last: 12 })).toEqual({
    ...{ peer: 'bravo', epoch: 1, resent: 2, waiting: 1 },
    not_resent: [
      { first: 2, last: 2, why: 'lost' },
      { first: 3, last: 4, why: 'damaged' },
      { first: 5, last: 5, why: 'not_kept' },
      { first: 6, last: 6, why: 'in_the_way' },
      { first: 9, last: 12, why: 'never_sent' },
    ],
  } satisfies Resent)
  expect(fs.readdirSync(ready()).filter((name) => name.endsWith('.env.json'))).toEqual(
    [1, 7, 8].map((seq) => `${stem(seq)}.env.json`),
  )
  expect(await oneWay().resend({ peer: 'bravo', epoch: 2, first: 1, last: 9 })).toMatchObject({
    ...{ epoch: 2, resent: 0, not_resent: [{ first: 1, last: 9, why: 'never_sent' }] },
  })
  expect(await refusal(oneWay().resend({ peer: 'nobody', first: 1, last: 1 }))).toBe('not_found')
})

test('links in sent are not followed', async () => {
  await lose(1, 1)
  const body = join(sent(), `${stem(1)}.body.json`)
  fs.renameSync(body, join(world.dir, 'elsewhere'))
  fs.symlinkSync(join(world.dir, 'elsewhere'), body)
  expect((await oneWay().resend({ peer: 'bravo', first: 1, last: 1 })).not_resent).toEqual([
    { first: 1, last: 1, why: 'damaged' },
  ])
  expect(fs.readdirSync(ready())).toEqual([])
})

test('a call takes a part, says where to go on, and no more a minute than the settings allow', async () => {
  await lose(5, 1, 2, 3, 4, 5)
  await restart(world.alpha, undefined, { resend_per_min: 3 })
  const first = await oneWay().resend({ peer: 'bravo', first: 1, last: 5 })
  expect(first).toMatchObject({ resent: 3, next: 4 })
  expect(await refusal(oneWay().resend({ peer: 'bravo', first: 4, last: 5 }))).toBe('rate_limited')
  world.clock.ms += 60_000
  expect(await oneWay().resend({ peer: 'bravo', first: 4, last: 5 })).toMatchObject({ resent: 2, not_resent: [] })
  const receipt = await receiptWith({ missing: [{ first: 2, last: 5 }], highest: 5 })
  world.clock.ms += 60_000
  expect(await oneWay().resendFor(receipt, 5)).toMatchObject({ resent: 1 })
})

test('a claim of a thousand million numbers costs no more than those that there are', async () => {
  await lose(2, 1, 2)
  const highest = 2 ** 40
  const receipt = await receiptWith({ missing: [{ first: 1, last: highest }], highest, floor: 0 })
  expect(await oneWay().resendFor(receipt)).toEqual({
    ...{ peer: 'bravo', epoch: 1, resent: 2, waiting: 0 },
    not_resent: [{ first: 3, last: highest, why: 'never_sent' }],
  })
})

test('what the carrier has just taken, and no look has noticed yet, goes out again', async () => {
  await sendFromAlpha(world, 1)
  for (const name of fs.readdirSync(ready())) fs.rmSync(join(ready(), name))
  expect(await oneWay().resend({ peer: 'bravo', first: 1, last: 1 })).toMatchObject({ resent: 1, waiting: 0 })
  expect(fs.readdirSync(ready())).toHaveLength(2)
})

test('what went out under a higher ceiling, or to more readers, does not go out again', async () => {
  await lose(2, 1, 2)
  const bravo = world.alpha.pinned.get('bravo')
  if (!bravo) throw new Error('bravo is pinned')
  for (const change of [{ ceiling: { ...bravo.ceiling, level: 'UNCLASSIFIED' } }, { tenant_id: 'somebody-else' }]) {
    world.alpha.pinned.set('bravo', { ...bravo, ...change })
    expect(await oneWay().resend({ peer: 'bravo', first: 1, last: 2 })).toMatchObject({
      ...{ resent: 0, not_resent: [{ first: 1, last: 2, why: 'label_denied' }] },
    })
    expect(fs.readdirSync(ready())).toEqual([])
  }
  world.alpha.pinned.set('bravo', bravo)
  expect(await oneWay().resend({ peer: 'bravo', first: 1, last: 2 })).toMatchObject({ resent: 2 })
})

test('a channel that stands still sends nothing again', async () => {
  await lose(1, 1)
  await world.alpha.journal.setState(channel, 'frozen', 'for a test')
  expect(await refusal(oneWay().resend({ peer: 'bravo', first: 1, last: 1 }))).toBe('unavailable')
  expect(fs.readdirSync(ready())).toEqual([])
})

describe('a receipt that is not what it should be', () => {
  beforeEach(() => lose(4, 2, 3))
  const made = () => new Date(world.clock.ms - 10 * 86_400_000).toISOString()

  test.each<[string, () => Promise<Jws>, string]>([
    ['signed by this site itself', () => receiptWith({}, world.alpha), 'signature_invalid'],
    ['of this site itself', () => receiptWith({ src: 'alpha', dst: 'bravo' }, world.alpha), 'invalid'],
    ['of nobody known', () => receiptWith({ src: 'charlie' }), 'signature_invalid'],
    ['for another site', () => receiptWith({ dst: 'charlie' }), 'invalid'],
    ['of another channel', () => receiptWith({ channel: 'filedrop/bravo/alpha' }), 'invalid'],
    ['out of time', () => receiptWith({ created: made(), not_after: made() }), 'invalid'],
    ['of the future', () => receiptWith({ created: new Date(world.clock.ms + 3_600_000).toISOString() }), 'invalid'],
    ['with a run that falls', () => receiptWith({ missing: [{ first: 3, last: 2 }] }), 'invalid'],
    ['with runs that overlap', () => receiptWith({ missing: [2, 2].map((first) => ({ first, last: 3 })) }), 'invalid'],
    ['with runs above its highest', () => receiptWith({ missing: [{ first: 3, last: 9 }] }), 'invalid'],
    ['with runs below its floor', () => receiptWith({ missing: [{ first: 1, last: 2 }] }), 'invalid'],
    ['of a later version', () => receiptWith({ v: 2 }), 'invalid'],
    ['with a member that the format does not know', () => receiptWith({ more: 1 } as never), 'invalid'],
    [
      'signed for another use',
      async () => {
        const { payload } = await receiptWith({})
        return world.bravo.signatures.sign('evidence', Buffer.from(payload, 'base64url'))
      },
      'signature_invalid',
    ],
    [
      'changed after it was signed',
      async () => {
        const { payload } = await receiptWith({ missing: [{ first: 2, last: 2 }] })
        return { ...(await receiptWith({})), payload }
      },
      'signature_invalid',
    ],
    ['whose payload is no text', async () => ({ ...(await receiptWith({})), payload: '/w' }), 'signature_invalid'],
  ])('%s is refused, and nothing goes out', async (_, receipt, code) => {
    expect(await refusal(oneWay().resendFor(await receipt()))).toBe(code)
    expect(fs.readdirSync(ready())).toEqual([])
  })

  test('by a key that has been revoked, or fewer keys than the peer needs, is refused', async () => {
    const receipt = await receiptWith({})
    const bravo = world.alpha.pinned.get('bravo')
    if (!bravo) throw new Error('bravo is pinned')
    world.alpha.pinned.set('bravo', { ...bravo, threshold: 2 })
    expect(await refusal(oneWay().resendFor(receipt))).toBe('signature_invalid')
    world.alpha.pinned.set('bravo', { ...bravo, keys: bravo.keys.map((key) => ({ ...key, status: 'revoked' })) })
    expect(await refusal(oneWay().resendFor(receipt))).toBe('signature_invalid')
    expect(fs.readdirSync(ready())).toEqual([])
  })

  test('without a trusted clock its times say nothing', async () => {
    await restart(world.alpha, undefined, { trusted_clock: false })
    const late = await receiptWith({ created: made(), not_after: made() })
    expect(await oneWay().resendFor(late)).toMatchObject({ resent: 2 })
  })
})
