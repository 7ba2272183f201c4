// Where a way back is accredited, arrivals are acknowledged: always at the same size and rate, independent of events.
import * as fs from 'node:fs'
import { join } from 'node:path'
import { describe, expect } from 'vitest'
import { generateKey } from '../../../adapters/keys/jose/key-lifecycle.ts'
import { intersectGaps } from '../../../adapters/transport/filedrop/receiving/acknowledgement-receiver.ts'
import type { OutboundMessage } from '../../../daemon/kernel/messaging/transport.ts'
import { channel } from '../../support/filedrop/filedrop-readers.ts'
import {
  buildMessage,
  buildPeer,
  carryFiles,
  type FiledropSites,
  formatReadyPath,
  listQuarantineReasons,
  restartSite,
  sendFromAlpha,
} from '../../support/filedrop/filedrop-sites.ts'
import { filedropTest } from '../../support/filedrop/filedrop-test.ts'
import { sampleTrace } from '../../support/trace/sample-trace.ts'

const minute_ms = 60_000
const accreditedOptions = {
  alpha: { isAccredited: () => true },
  bravo: { isAccredited: () => true, acknowledgements: { alpha: { every_s: 60 } } },
}

const test = filedropTest.extend({ options: { peer: { inventory_interval_s: 86_400 } } })
test.beforeEach(async ({ sites }) => {
  await restartSite(sites.alpha, undefined, {}, accreditedOptions.alpha)
  await restartSite(sites.bravo, undefined, {}, accreditedOptions.bravo)
})

/** The files at bravo ready for alpha, as [kind, bytes of the body, bytes of the envelope], in order. */
function listAcknowledgements(sites: FiledropSites): [string, number, number][] {
  const ready = formatReadyPath(sites.bravo, 'alpha')
  const envelopes = fs.readdirSync(ready).filter((name) => name.endsWith('.env.json'))
  return envelopes.sort().map((name) => {
    const envelope = fs.readFileSync(join(ready, name), 'utf8')
    const { kind } = JSON.parse(Buffer.from(JSON.parse(envelope).payload, 'base64url').toString())
    return [kind, fs.statSync(join(ready, name.replace('.env.', '.body.'))).size, envelope.length]
  })
}

/** Ready files go over, a minute passes, and the acknowledgement comes back. */
async function passMinute(sites: FiledropSites): Promise<void> {
  carryFiles(sites.alpha, sites.bravo)
  await sites.bravo.transport.rescan()
  sites.clock.ms += minute_ms
  await sites.bravo.transport.rescan()
  carryFiles(sites.bravo, sites.alpha)
  await sites.alpha.transport.rescan()
}

const listStates = async (sites: FiledropSites) =>
  (await sites.alpha.journal.sentRun(channel, 1, 1, 99, 99)).map(({ state }) => state)
const listReady = (sites: FiledropSites) => fs.readdirSync(formatReadyPath(sites.alpha, 'bravo'))
/** The carrier takes it, and it is never seen again. */
async function loseMessage(sites: FiledropSites, seq: number): Promise<void> {
  for (const name of listReady(sites)) {
    if (name.includes(`-${String(seq).padStart(16, '0')}.`))
      fs.rmSync(join(formatReadyPath(sites.alpha, 'bravo'), name))
  }
  await sites.alpha.transport.rescan()
}

test('one goes back each interval, as large when nothing came as when much is missing', async ({ sites }) => {
  sites.clock.ms += minute_ms
  await sites.bravo.transport.rescan()
  await sites.bravo.transport.rescan()
  expect(listAcknowledgements(sites)).toHaveLength(1)
  await sendFromAlpha(sites, 400)
  // Every other one is lost: far more runs than an acknowledgement has room for.
  carryFiles(sites.alpha, sites.bravo, { only: (name) => Number(name.slice(9, 25)) % 2 === 0 })
  await sites.bravo.transport.rescan()
  sites.clock.ms += minute_ms
  await sites.bravo.transport.rescan()
  expect(listAcknowledgements(sites).map(([kind, body]) => [kind, body])).toEqual([
    ['gap_receipt', 8_192],
    ['gap_receipt', 8_192],
  ])
  const body = fs.readFileSync(
    join(formatReadyPath(sites.bravo, 'alpha'), '00000001-0000000000000002.body.json'),
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

test('with larger signatures each is a larger one, and all are as large', async ({ sites }) => {
  for (let i = 0; i < 2; i++) {
    await generateKey(join(sites.dir, 'bravo', 'keys'), { use: 'message', algorithm: 'ML-DSA-87', now: sites.clock.ms })
  }
  await restartSite(sites.bravo, undefined, {}, accreditedOptions.bravo)
  sites.clock.ms += minute_ms
  await sites.bravo.transport.rescan()
  await sendFromAlpha(sites, 9)
  carryFiles(sites.alpha, sites.bravo, { only: (name) => Number(name.slice(9, 25)) % 2 === 0 })
  await sites.bravo.transport.rescan()
  sites.clock.ms += minute_ms
  await sites.bravo.transport.rescan()
  expect(listAcknowledgements(sites).map(([, body]) => body)).toEqual([16_384, 16_384])
})

test('acknowledges arrivals, and not losses', async ({ sites }) => {
  await sendFromAlpha(sites, 4)
  await loseMessage(sites, 3)
  await passMinute(sites)
  expect(await listStates(sites)).toEqual(['ACKNOWLEDGED', 'ACKNOWLEDGED', 'PICKED_UP', 'PICKED_UP'])
  expect(sites.bravo.received).toHaveLength(3)
  expect(sites.alpha.received).toEqual([])
})

test('sends again the messages that two acknowledgements miss, and none that may still be on its way', async ({
  sites,
}) => {
  await sendFromAlpha(sites, 2)
  await loseMessage(sites, 1)
  await passMinute(sites)
  expect(listReady(sites)).toEqual([])
  await passMinute(sites)
  expect(listReady(sites)).toHaveLength(2)
  // Two more must miss it before it goes out once more.
  await loseMessage(sites, 1)
  await passMinute(sites)
  expect(listReady(sites)).toEqual([])
  await passMinute(sites)
  expect(listReady(sites)).toHaveLength(2)
  await passMinute(sites)
  await passMinute(sites)
  expect(await listStates(sites)).toEqual(['ACKNOWLEDGED', 'ACKNOWLEDGED'])
  const resent = await sites.alpha.audit.list({ action: 'filedrop.messages.resent', limit: 9 })
  expect(resent.map(({ event }) => event?.detail)).toEqual([
    { epoch: 1, resent: 1 },
    { epoch: 1, resent: 1 },
  ])
})

test('a message sent after the first of two acknowledgements may still be on its way, and is awaited', async ({
  sites,
}) => {
  await sendFromAlpha(sites, 2)
  // The carrier takes 1, which alpha notices only after bravo has missed it for the first time.
  for (const name of listReady(sites))
    if (name.includes('1.')) fs.rmSync(join(formatReadyPath(sites.alpha, 'bravo'), name))
  await passMinute(sites)
  await passMinute(sites)
  expect(listReady(sites)).toEqual([])
  await passMinute(sites)
  expect(listReady(sites)).toHaveLength(2)
})

test('over a restart nothing is sent again too soon', async ({ sites }) => {
  await sendFromAlpha(sites, 2)
  await loseMessage(sites, 1)
  await passMinute(sites)
  await restartSite(sites.alpha, undefined, {}, accreditedOptions.alpha)
  await passMinute(sites)
  expect(listReady(sites)).toEqual([])
  await passMinute(sites)
  expect(listReady(sites)).toHaveLength(2)
})

test('none goes to a peer that is not named, or whose way back is not accredited', async ({ sites }) => {
  await restartSite(
    sites.bravo,
    undefined,
    {},
    { isAccredited: () => true, acknowledgements: { charlie: { every_s: 60 } } },
  )
  await passMinute(sites)
  await restartSite(sites.bravo, undefined, {}, { ...accreditedOptions.bravo, isAccredited: () => false })
  await passMinute(sites)
  expect(listAcknowledgements(sites)).toEqual([])
  expect(await sites.bravo.transport.status()).toMatchObject([{ sent: 0 }, {}])
})

describe('taken from a peer', () => {
  async function taken(
    sites: FiledropSites,
    more: Partial<OutboundMessage>,
    after = async () => undefined as unknown,
  ): Promise<string[]> {
    const label = { ...buildMessage(sites).label, releasable_to: [sites.alpha.tenant_id] }
    await after()
    await sites.bravo.transport.send(
      buildMessage(sites, { peer: 'alpha', kind: 'gap_receipt', label, ...more }),
      sampleTrace,
    )
    await sites.bravo.transport.rescan()
    carryFiles(sites.bravo, sites.alpha)
    await sites.alpha.transport.rescan()
    return listQuarantineReasons(sites.alpha, 'bravo').map(({ reason, code }) => `${reason} ${code}`)
  }
  const schema = 'platform.acknowledgement/1'
  const receipt = (sites: FiledropSites) => sites.bravo.transport.oneWay.gapReceipt('alpha')

  test('that is not accredited it counts for nothing', async ({ sites }) => {
    await sendFromAlpha(sites, 1)
    await restartSite(sites.alpha, undefined, {}, {})
    await passMinute(sites)
    expect(listQuarantineReasons(sites.alpha, 'bravo').map(({ reason, code }) => `${reason} ${code}`)).toEqual([
      'REFUSED forbidden',
    ])
    expect(await listStates(sites)).toEqual(['PICKED_UP'])
  })

  test.for<[string, (sites: FiledropSites) => Promise<Partial<OutboundMessage>>, string]>([
    [
      'of any other size',
      async (sites) => ({ schema, body: { receipt: await receipt(sites), padding: '' } }),
      'invalid',
    ],
    ['of another schema', async (sites) => ({ schema: 'other/1', body: { receipt: await receipt(sites) } }), 'invalid'],
    ['without a receipt', async () => ({ schema, body: { padding: '' } }), 'invalid'],
  ])('one %s is refused', async ([_, more, code], { sites }) => {
    expect(await taken(sites, await more(sites))).toEqual([`REFUSED ${code}`])
  })

  test('one whose padding says something is refused', async ({ sites }) => {
    const body = { receipt: await receipt(sites), padding: '' }
    const label = { ...buildMessage(sites).label, releasable_to: [sites.alpha.tenant_id] }
    const size = JSON.stringify({ data: body, label, schema }).length
    expect(await taken(sites, { schema, body: { ...body, padding: 'secret'.padEnd(8_192 - size, 'x') } })).toEqual([
      'REFUSED invalid',
    ])
  })

  test('one that carries another site’s receipt is refused', async ({ sites }) => {
    const own = await sites.alpha.transport.oneWay.gapReceipt('bravo')
    const label = { ...buildMessage(sites).label, releasable_to: [sites.alpha.tenant_id] }
    sites.alpha.pinned.set('alpha', buildPeer(sites.alpha))
    const size = JSON.stringify({ data: { receipt: own, padding: '' }, label, schema }).length
    expect(await taken(sites, { schema, body: { receipt: own, padding: ' '.repeat(8_192 - size) } })).toEqual([
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
