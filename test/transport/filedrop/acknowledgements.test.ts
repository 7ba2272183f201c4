// Where a way back is accredited, arrivals are acknowledged: always as large, always as often, whatever has happened.
import * as fs from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { generateKey } from '../../../adapters/keys/jose/key-life.ts'
import { inBoth } from '../../../adapters/transport/filedrop/receiving/evidence.ts'
import type { Outgoing } from '../../../daemon/kernel/transport.ts'
import { aTrace } from '../../support/a-trace.ts'
import {
  carry,
  message,
  peerOf,
  quarantineOf,
  readyOf,
  restart,
  sendFromAlpha,
  twoSites,
  type World,
} from './two-sites.ts'

const minute_ms = 60_000
const channel = 'filedrop/alpha/bravo'
const given = {
  alpha: { isAccredited: () => true },
  bravo: { isAccredited: () => true, acknowledgements: { alpha: { every_s: 60 } } },
}

let world: World
beforeEach(async () => {
  world = await twoSites({ peer: { inventory_interval_s: 86_400 } })
  await restart(world.alpha, undefined, {}, given.alpha)
  await restart(world.bravo, undefined, {}, given.bravo)
})
afterEach(() => world.dispose())

/** What bravo has ready for alpha, as [kind, bytes of the body, bytes of the envelope], in order. */
function goingBack(): [string, number, number][] {
  const ready = readyOf(world.bravo, 'alpha')
  const envelopes = fs.readdirSync(ready).filter((name) => name.endsWith('.env.json'))
  return envelopes.sort().map((name) => {
    const envelope = fs.readFileSync(join(ready, name), 'utf8')
    const { kind } = JSON.parse(Buffer.from(JSON.parse(envelope).payload, 'base64url').toString())
    return [kind, fs.statSync(join(ready, name.replace('.env.', '.body.'))).size, envelope.length]
  })
}

/** What there is goes over, a minute goes by, and what was said of it comes back. */
async function minute(): Promise<void> {
  carry(world.alpha, world.bravo)
  await world.bravo.transport.rescan()
  world.clock.ms += minute_ms
  await world.bravo.transport.rescan()
  carry(world.bravo, world.alpha)
  await world.alpha.transport.rescan()
}

const states = async () => (await world.alpha.journal.sentRun(channel, 1, 1, 99, 99)).map(({ state }) => state)
const ready = () => fs.readdirSync(readyOf(world.alpha, 'bravo'))
/** The carrier takes it, and it is never seen again. */
async function lose(seq: number): Promise<void> {
  for (const name of ready()) {
    if (name.includes(`-${String(seq).padStart(16, '0')}.`)) fs.rmSync(join(readyOf(world.alpha, 'bravo'), name))
  }
  await world.alpha.transport.rescan()
}

test('one goes back each interval, as large when nothing came as when much is missing', async () => {
  world.clock.ms += minute_ms
  await world.bravo.transport.rescan()
  await world.bravo.transport.rescan()
  expect(goingBack()).toHaveLength(1)
  await sendFromAlpha(world, 400)
  // Every other one is lost: far more runs than an acknowledgement has room for.
  carry(world.alpha, world.bravo, { only: (name) => Number(name.slice(9, 25)) % 2 === 0 })
  await world.bravo.transport.rescan()
  world.clock.ms += minute_ms
  await world.bravo.transport.rescan()
  expect(goingBack().map(([kind, body]) => [kind, body])).toEqual([
    ['gap_receipt', 8_192],
    ['gap_receipt', 8_192],
  ])
  const body = fs.readFileSync(join(readyOf(world.bravo, 'alpha'), '00000001-0000000000000002.body.json'), 'utf8')
  const { receipt } = JSON.parse(body).data
  const { missing } = JSON.parse(Buffer.from(receipt.payload, 'base64url').toString())
  expect(missing.length).toBeGreaterThan(50)
  expect(missing.slice(0, 2)).toEqual([
    { first: 1, last: 1 },
    { first: 3, last: 3 },
  ])
})

test('with larger signatures each is a larger one, and all are as large', async () => {
  for (let i = 0; i < 2; i++) {
    await generateKey(join(world.dir, 'bravo', 'keys'), { use: 'message', algorithm: 'ML-DSA-87', now: world.clock.ms })
  }
  await restart(world.bravo, undefined, {}, given.bravo)
  world.clock.ms += minute_ms
  await world.bravo.transport.rescan()
  await sendFromAlpha(world, 9)
  carry(world.alpha, world.bravo, { only: (name) => Number(name.slice(9, 25)) % 2 === 0 })
  await world.bravo.transport.rescan()
  world.clock.ms += minute_ms
  await world.bravo.transport.rescan()
  expect(goingBack().map(([, body]) => body)).toEqual([16_384, 16_384])
})

test('what arrived is acknowledged, what is lost is not', async () => {
  await sendFromAlpha(world, 4)
  await lose(3)
  await minute()
  expect(await states()).toEqual(['ACKNOWLEDGED', 'ACKNOWLEDGED', 'PICKED_UP', 'PICKED_UP'])
  expect(world.bravo.received).toHaveLength(3)
  expect(world.alpha.received).toEqual([])
})

test('what two acknowledgements miss goes out again, and nothing that may still be on its way', async () => {
  await sendFromAlpha(world, 2)
  await lose(1)
  await minute()
  expect(ready()).toEqual([])
  await minute()
  expect(ready()).toHaveLength(2)
  // Two more must miss it before it goes out once more.
  await lose(1)
  await minute()
  expect(ready()).toEqual([])
  await minute()
  expect(ready()).toHaveLength(2)
  await minute()
  await minute()
  expect(await states()).toEqual(['ACKNOWLEDGED', 'ACKNOWLEDGED'])
  const resent = await world.alpha.audit.list({ action: 'filedrop.messages.resent', limit: 9 })
  expect(resent.map(({ event }) => event?.detail)).toEqual([
    { epoch: 1, resent: 1 },
    { epoch: 1, resent: 1 },
  ])
})

test('what was taken after the first of two was made may still be on its way, and is waited for', async () => {
  await sendFromAlpha(world, 2)
  // The carrier takes 1, which alpha notices only after bravo has missed it for the first time.
  for (const name of ready()) if (name.includes('1.')) fs.rmSync(join(readyOf(world.alpha, 'bravo'), name))
  await minute()
  await minute()
  expect(ready()).toEqual([])
  await minute()
  expect(ready()).toHaveLength(2)
})

test('over a restart nothing is sent again too soon', async () => {
  await sendFromAlpha(world, 2)
  await lose(1)
  await minute()
  await restart(world.alpha, undefined, {}, given.alpha)
  await minute()
  expect(ready()).toEqual([])
  await minute()
  expect(ready()).toHaveLength(2)
})

test('none goes to a peer that is not named, or whose way back is not accredited', async () => {
  await restart(
    world.bravo,
    undefined,
    {},
    { isAccredited: () => true, acknowledgements: { charlie: { every_s: 60 } } },
  )
  await minute()
  await restart(world.bravo, undefined, {}, { ...given.bravo, isAccredited: () => false })
  await minute()
  expect(goingBack()).toEqual([])
  expect(await world.bravo.transport.status()).toMatchObject([{ sent: 0 }, {}])
})

describe('taken from a peer', () => {
  async function taken(more: Partial<Outgoing>, after = async () => undefined as unknown): Promise<string[]> {
    const label = { ...message(world).label, releasable_to: [world.alpha.tenant_id] }
    await after()
    await world.bravo.transport.send(message(world, { peer: 'alpha', kind: 'gap_receipt', label, ...more }), aTrace)
    await world.bravo.transport.rescan()
    carry(world.bravo, world.alpha)
    await world.alpha.transport.rescan()
    return quarantineOf(world.alpha, 'bravo').map(({ reason, code }) => `${reason} ${code}`)
  }
  const schema = 'platform.acknowledgement/1'
  const receipt = () => world.bravo.transport.oneWay.gapReceipt('alpha')

  test('that is not accredited it counts for nothing', async () => {
    await sendFromAlpha(world, 1)
    await restart(world.alpha, undefined, {}, {})
    await minute()
    expect(quarantineOf(world.alpha, 'bravo').map(({ reason, code }) => `${reason} ${code}`)).toEqual([
      'REFUSED forbidden',
    ])
    expect(await states()).toEqual(['PICKED_UP'])
  })

  test.each<[string, () => Promise<Partial<Outgoing>>, string]>([
    ['of any other size', async () => ({ schema, body: { receipt: await receipt(), padding: '' } }), 'invalid'],
    ['of another schema', async () => ({ schema: 'other/1', body: { receipt: await receipt() } }), 'invalid'],
    ['without a receipt', async () => ({ schema, body: { padding: '' } }), 'invalid'],
  ])('one %s is refused', async (_, more, code) => {
    expect(await taken(await more())).toEqual([`REFUSED ${code}`])
  })

  test('one whose padding says something is refused', async () => {
    const body = { receipt: await receipt(), padding: '' }
    const label = { ...message(world).label, releasable_to: [world.alpha.tenant_id] }
    const size = JSON.stringify({ data: body, label, schema }).length
    expect(await taken({ schema, body: { ...body, padding: 'secret'.padEnd(8_192 - size, 'x') } })).toEqual([
      'REFUSED invalid',
    ])
  })

  test('one that carries another site’s receipt is refused', async () => {
    const own = await world.alpha.transport.oneWay.gapReceipt('bravo')
    const label = { ...message(world).label, releasable_to: [world.alpha.tenant_id] }
    world.alpha.pinned.set('alpha', peerOf(world.alpha))
    const size = JSON.stringify({ data: { receipt: own, padding: '' }, label, schema }).length
    expect(await taken({ schema, body: { receipt: own, padding: ' '.repeat(8_192 - size) } })).toEqual([
      'REFUSED invalid',
    ])
  })
})

test('runs that stand in both of two lists', () => {
  const run = (first: number, last = first) => ({ first, last })
  expect(inBoth([run(1, 5), run(9), run(20, 30)], [run(3, 9), run(25), run(29, 40)])).toEqual([
    ...[run(3, 5), run(9), run(25), run(29, 30)],
  ])
  expect(inBoth([run(2, 100)], [run(1), run(3), run(5, 7), run(100, 200)])).toEqual([run(3), run(5, 7), run(100)])
  expect(inBoth([], [run(1)])).toEqual([])
})
