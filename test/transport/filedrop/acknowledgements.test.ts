// Where a way back is accredited, arrivals are acknowledged: always as large, always as often, whatever has happened.
import * as fs from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { generateKey } from '../../../adapters/keys/jose/key-life.ts'
import { intersectGaps } from '../../../adapters/transport/filedrop/receiving/acknowledgement-receiver.ts'
import type { OutboundMessage } from '../../../daemon/kernel/messaging/transport.ts'
import { sampleTrace } from '../../support/trace/sample-trace.ts'
import {
  buildMessage,
  buildPeer,
  carryFiles,
  createFiledropSites,
  type FiledropSites,
  formatReadyPath,
  listQuarantineReasons,
  restartSite,
  sendFromAlpha,
} from './filedrop-sites.ts'

const minute_ms = 60_000
const channel = 'filedrop/alpha/bravo'
const accreditedOptions = {
  alpha: { isAccredited: () => true },
  bravo: { isAccredited: () => true, acknowledgements: { alpha: { every_s: 60 } } },
}

let world: FiledropSites
beforeEach(async () => {
  world = await createFiledropSites({ peer: { inventory_interval_s: 86_400 } })
  await restartSite(world.alpha, undefined, {}, accreditedOptions.alpha)
  await restartSite(world.bravo, undefined, {}, accreditedOptions.bravo)
})
afterEach(() => world.dispose())

/** What bravo has ready for alpha, as [kind, bytes of the body, bytes of the envelope], in order. */
function listAcknowledgements(): [string, number, number][] {
  const ready = formatReadyPath(world.bravo, 'alpha')
  const envelopes = fs.readdirSync(ready).filter((name) => name.endsWith('.env.json'))
  return envelopes.sort().map((name) => {
    const envelope = fs.readFileSync(join(ready, name), 'utf8')
    const { kind } = JSON.parse(Buffer.from(JSON.parse(envelope).payload, 'base64url').toString())
    return [kind, fs.statSync(join(ready, name.replace('.env.', '.body.'))).size, envelope.length]
  })
}

/** What there is goes over, a minute goes by, and what was said of it comes back. */
async function passMinute(): Promise<void> {
  carryFiles(world.alpha, world.bravo)
  await world.bravo.transport.rescan()
  world.clock.ms += minute_ms
  await world.bravo.transport.rescan()
  carryFiles(world.bravo, world.alpha)
  await world.alpha.transport.rescan()
}

const listStates = async () => (await world.alpha.journal.sentRun(channel, 1, 1, 99, 99)).map(({ state }) => state)
const listReady = () => fs.readdirSync(formatReadyPath(world.alpha, 'bravo'))
/** The carrier takes it, and it is never seen again. */
async function loseMessage(seq: number): Promise<void> {
  for (const name of listReady()) {
    if (name.includes(`-${String(seq).padStart(16, '0')}.`))
      fs.rmSync(join(formatReadyPath(world.alpha, 'bravo'), name))
  }
  await world.alpha.transport.rescan()
}

test('one goes back each interval, as large when nothing came as when much is missing', async () => {
  world.clock.ms += minute_ms
  await world.bravo.transport.rescan()
  await world.bravo.transport.rescan()
  expect(listAcknowledgements()).toHaveLength(1)
  await sendFromAlpha(world, 400)
  // Every other one is lost: far more runs than an acknowledgement has room for.
  carryFiles(world.alpha, world.bravo, { only: (name) => Number(name.slice(9, 25)) % 2 === 0 })
  await world.bravo.transport.rescan()
  world.clock.ms += minute_ms
  await world.bravo.transport.rescan()
  expect(listAcknowledgements().map(([kind, body]) => [kind, body])).toEqual([
    ['gap_receipt', 8_192],
    ['gap_receipt', 8_192],
  ])
  const body = fs.readFileSync(
    join(formatReadyPath(world.bravo, 'alpha'), '00000001-0000000000000002.body.json'),
    'utf8',
  )
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
  await restartSite(world.bravo, undefined, {}, accreditedOptions.bravo)
  world.clock.ms += minute_ms
  await world.bravo.transport.rescan()
  await sendFromAlpha(world, 9)
  carryFiles(world.alpha, world.bravo, { only: (name) => Number(name.slice(9, 25)) % 2 === 0 })
  await world.bravo.transport.rescan()
  world.clock.ms += minute_ms
  await world.bravo.transport.rescan()
  expect(listAcknowledgements().map(([, body]) => body)).toEqual([16_384, 16_384])
})

test('what arrived is acknowledged, what is lost is not', async () => {
  await sendFromAlpha(world, 4)
  await loseMessage(3)
  await passMinute()
  expect(await listStates()).toEqual(['ACKNOWLEDGED', 'ACKNOWLEDGED', 'PICKED_UP', 'PICKED_UP'])
  expect(world.bravo.received).toHaveLength(3)
  expect(world.alpha.received).toEqual([])
})

test('what two acknowledgements miss goes out again, and nothing that may still be on its way', async () => {
  await sendFromAlpha(world, 2)
  await loseMessage(1)
  await passMinute()
  expect(listReady()).toEqual([])
  await passMinute()
  expect(listReady()).toHaveLength(2)
  // Two more must miss it before it goes out once more.
  await loseMessage(1)
  await passMinute()
  expect(listReady()).toEqual([])
  await passMinute()
  expect(listReady()).toHaveLength(2)
  await passMinute()
  await passMinute()
  expect(await listStates()).toEqual(['ACKNOWLEDGED', 'ACKNOWLEDGED'])
  const resent = await world.alpha.audit.list({ action: 'filedrop.messages.resent', limit: 9 })
  expect(resent.map(({ event }) => event?.detail)).toEqual([
    { epoch: 1, resent: 1 },
    { epoch: 1, resent: 1 },
  ])
})

test('what was taken after the first of two was made may still be on its way, and is waited for', async () => {
  await sendFromAlpha(world, 2)
  // The carrier takes 1, which alpha notices only after bravo has missed it for the first time.
  for (const name of listReady()) if (name.includes('1.')) fs.rmSync(join(formatReadyPath(world.alpha, 'bravo'), name))
  await passMinute()
  await passMinute()
  expect(listReady()).toEqual([])
  await passMinute()
  expect(listReady()).toHaveLength(2)
})

test('over a restart nothing is sent again too soon', async () => {
  await sendFromAlpha(world, 2)
  await loseMessage(1)
  await passMinute()
  await restartSite(world.alpha, undefined, {}, accreditedOptions.alpha)
  await passMinute()
  expect(listReady()).toEqual([])
  await passMinute()
  expect(listReady()).toHaveLength(2)
})

test('none goes to a peer that is not named, or whose way back is not accredited', async () => {
  await restartSite(
    world.bravo,
    undefined,
    {},
    { isAccredited: () => true, acknowledgements: { charlie: { every_s: 60 } } },
  )
  await passMinute()
  await restartSite(world.bravo, undefined, {}, { ...accreditedOptions.bravo, isAccredited: () => false })
  await passMinute()
  expect(listAcknowledgements()).toEqual([])
  expect(await world.bravo.transport.status()).toMatchObject([{ sent: 0 }, {}])
})

describe('taken from a peer', () => {
  async function taken(more: Partial<OutboundMessage>, after = async () => undefined as unknown): Promise<string[]> {
    const label = { ...buildMessage(world).label, releasable_to: [world.alpha.tenant_id] }
    await after()
    await world.bravo.transport.send(
      buildMessage(world, { peer: 'alpha', kind: 'gap_receipt', label, ...more }),
      sampleTrace,
    )
    await world.bravo.transport.rescan()
    carryFiles(world.bravo, world.alpha)
    await world.alpha.transport.rescan()
    return listQuarantineReasons(world.alpha, 'bravo').map(({ reason, code }) => `${reason} ${code}`)
  }
  const schema = 'platform.acknowledgement/1'
  const receipt = () => world.bravo.transport.oneWay.gapReceipt('alpha')

  test('that is not accredited it counts for nothing', async () => {
    await sendFromAlpha(world, 1)
    await restartSite(world.alpha, undefined, {}, {})
    await passMinute()
    expect(listQuarantineReasons(world.alpha, 'bravo').map(({ reason, code }) => `${reason} ${code}`)).toEqual([
      'REFUSED forbidden',
    ])
    expect(await listStates()).toEqual(['PICKED_UP'])
  })

  test.each<[string, () => Promise<Partial<OutboundMessage>>, string]>([
    ['of any other size', async () => ({ schema, body: { receipt: await receipt(), padding: '' } }), 'invalid'],
    ['of another schema', async () => ({ schema: 'other/1', body: { receipt: await receipt() } }), 'invalid'],
    ['without a receipt', async () => ({ schema, body: { padding: '' } }), 'invalid'],
  ])('one %s is refused', async (_, more, code) => {
    expect(await taken(await more())).toEqual([`REFUSED ${code}`])
  })

  test('one whose padding says something is refused', async () => {
    const body = { receipt: await receipt(), padding: '' }
    const label = { ...buildMessage(world).label, releasable_to: [world.alpha.tenant_id] }
    const size = JSON.stringify({ data: body, label, schema }).length
    expect(await taken({ schema, body: { ...body, padding: 'secret'.padEnd(8_192 - size, 'x') } })).toEqual([
      'REFUSED invalid',
    ])
  })

  test('one that carries another site’s receipt is refused', async () => {
    const own = await world.alpha.transport.oneWay.gapReceipt('bravo')
    const label = { ...buildMessage(world).label, releasable_to: [world.alpha.tenant_id] }
    world.alpha.pinned.set('alpha', buildPeer(world.alpha))
    const size = JSON.stringify({ data: { receipt: own, padding: '' }, label, schema }).length
    expect(await taken({ schema, body: { receipt: own, padding: ' '.repeat(8_192 - size) } })).toEqual([
      'REFUSED invalid',
    ])
  })
})

test('runs that stand in both of two lists', () => {
  const run = (first: number, last = first) => ({ first, last })
  expect(intersectGaps([run(1, 5), run(9), run(20, 30)], [run(3, 9), run(25), run(29, 40)])).toEqual([
    ...[run(3, 5), run(9), run(25), run(29, 30)],
  ])
  expect(intersectGaps([run(2, 100)], [run(1), run(3), run(5, 7), run(100, 200)])).toEqual([
    run(3),
    run(5, 7),
    run(100),
  ])
  expect(intersectGaps([], [run(1)])).toEqual([])
})
