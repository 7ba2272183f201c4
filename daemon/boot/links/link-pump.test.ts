// The loop of one peer sends every message, retries failures with jitter, and lets no message block others.
import fc from 'fast-check'
import { afterEach, describe, expect, test, vi } from 'vitest'
import {
  type CarriedMessage,
  type Carrier,
  type CarryOutcome,
  type Handover,
  PeerBusyError,
} from '../../kernel/messaging/carrier.ts'
import { computeBackoff_ms, type LinkPump, linkPump } from './link-pump.ts'

const linkPumps: LinkPump[] = []
afterEach(async () => {
  for (const each of linkPumps.splice(0)) await each.stop()
})

const chances = fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true })

describe('the wait after a failure', () => {
  test('grows with the failures from half a second to one minute', () => {
    expect([1, 2, 3, 4, 20].map((failures) => computeBackoff_ms(failures, 0))).toEqual([500, 500, 500, 500, 500])
    expect([1, 2, 3, 7, 20].map((failures) => computeBackoff_ms(failures, 1))).toEqual([
      1_500, 2_500, 4_500, 60_500, 60_500,
    ])
  })

  test('is at least the retry time of the peer, up to one minute', () => {
    expect([0, 5_000, 60_000, 999_999_000].map((requested_ms) => computeBackoff_ms(1, 0, requested_ms))).toEqual([
      500, 5_000, 60_000, 60_000,
    ])
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 1_000 }), chances, fc.nat(), (failures, chance, requested_ms) => {
        const wait = computeBackoff_ms(failures, chance, requested_ms)
        expect(wait).toBeGreaterThanOrEqual(Math.min(60_000, Math.max(500, requested_ms)))
        expect(wait).toBeLessThanOrEqual(120_000)
      }),
    )
  })

  test('is spread over its whole range', () => {
    const waits = Array.from({ length: 10 }, (_, at) => computeBackoff_ms(10, at / 10))
    expect(new Set(waits).size).toBe(10)
  })
})

/** A site with these numbers ready for bravo; `carry` is what becomes of each batch. */
function fakeSite(numbers: number[], carry: (batch: number[]) => CarryOutcome[]) {
  const events: { event: string; fields: Record<string, unknown> | undefined }[] = []
  const log = (event: string, fields?: Readonly<Record<string, unknown>>) => void events.push({ event, fields })
  const ready = new Set(numbers)
  const parcel = (seq: number): CarriedMessage => ({
    epoch: 1,
    seq,
    envelope: new Uint8Array(),
    body: new Uint8Array(),
  })
  let tell = (_peer: string) => {}
  let looks = 0
  const handover: Handover = {
    async offer(_peer, { limit, skip = () => false, carry }) {
      looks += 1
      const offered = [...ready].map(parcel).filter((each) => !skip(each))
      const some = offered.slice(0, limit)
      if (some.length === 0) return []
      const landings = await carry(some, new AbortController().signal)
      const handed = some.map((each, at) => ({ ...each, outcome: landings[at] ?? 'full' }))
      for (const { seq, outcome } of handed) if (outcome === 'landed') ready.delete(seq)
      return handed
    },
    receive: async () => [],
    whenProcessed: async () => undefined,
    onReady(given) {
      tell = given
      return () => undefined
    },
  }
  const carrier: Carrier = {
    name: 'mtls',
    peers: ['bravo'],
    carry: async (_peer, parcels) => carry(parcels.map(({ seq }) => seq)),
    start: async () => undefined,
    health: async () => ({ ok: true, detail: '' }),
    stop: async () => undefined,
  }
  const made = linkPump({
    carrier,
    handover,
    log: { debug: log, info: log, warn: log, error: log },
    chance: () => 0,
    poll_interval_ms: 3_600_000,
  })
  linkPumps.push(made)
  return {
    ready,
    events,
    start: () => made.start(),
    tell: () => tell('bravo'),
    looks: () => looks,
    names: () => events.map(({ event }) => event),
  }
}

test('the pump sends all ready messages in batches of 64, and later ones as soon as they are announced', async () => {
  const batches: number[] = []
  const site = fakeSite(listNumbers(150), (batch) => {
    batches.push(batch.length)
    return batch.map(() => 'landed')
  })
  await site.start()
  await vi.waitFor(() => expect(site.ready.size).toBe(0), 60_000)
  expect(batches).toEqual([64, 64, 22])
  site.ready.add(151)
  site.tell()
  await vi.waitFor(() => expect(site.ready.size).toBe(0), 60_000)
})

test('the pump retries after a failure, and logs when it reaches the peer again', async () => {
  let failures = 2
  const site = fakeSite([1], (batch) => {
    if (failures-- > 0) throw new Error('bravo cannot be reached')
    return batch.map(() => 'landed')
  })
  await site.start()
  await vi.waitFor(() => expect(site.ready.size).toBe(0), 60_000)
  await vi.waitFor(
    () => expect(site.names()).toEqual(['carrier.peer.unreached', 'carrier.peer.unreached', 'carrier.peer.reached']),
    60_000,
  )
})

test('a delivered message marks the peer as reachable, an empty queue does not', async () => {
  let isDown = true
  const site = fakeSite([1], (batch) => {
    if (isDown) throw new Error('bravo cannot be reached')
    return batch.map(() => 'landed')
  })
  await site.start()
  await vi.waitFor(() => expect(site.names()).toContain('carrier.peer.unreached'), 60_000)
  // A courier has taken it, or people have purged it.
  site.ready.clear()
  await vi.waitFor(() => expect(site.looks()).toBeGreaterThan(1), 60_000)
  const before = site.looks()
  site.tell()
  await vi.waitFor(() => expect(site.looks()).toBeGreaterThan(before), 60_000)
  expect(site.names()).not.toContain('carrier.peer.reached')
  isDown = false
  site.ready.add(2)
  site.tell()
  await vi.waitFor(() => expect(site.names()).toContain('carrier.peer.reached'), 60_000)
})

test('a refused message stays queued and is logged, and later ones are not delayed', async () => {
  const site = fakeSite(listNumbers(200), (batch) => batch.map((seq) => (seq === 2 ? 'too_large' : 'landed')))
  await site.start()
  await vi.waitFor(() => expect(site.names()).toContain('carrier.peer.unreached'), 60_000)
  expect([...site.ready]).toEqual([2])
  expect(site.events[0]?.fields).toMatchObject({
    detail: expect.stringContaining('number 2 of epoch 1 exceeds the size limit'),
  })
})

test('a batch that cannot be delivered does not delay later messages', async () => {
  const site = fakeSite(listNumbers(130), (batch) => batch.map((seq) => (seq <= 100 ? 'in_the_way' : 'landed')))
  await site.start()
  await vi.waitFor(() => expect([...site.ready]).toEqual(listNumbers(100)), 60_000)
})

test('the pump waits for the retry time of a busy peer', async () => {
  let batch_count = 0
  const began = performance.now()
  const times: number[] = []
  const site = fakeSite([1], (batch) => {
    times.push(performance.now() - began)
    if (batch_count++ === 0) throw new PeerBusyError('bravo takes nothing now', 1_200)
    return batch.map(() => 'landed')
  })
  await site.start()
  await vi.waitFor(() => expect(site.ready.size).toBe(0), 60_000)
  expect(times[1]).toBeGreaterThanOrEqual(1_190)
})

function listNumbers(last: number): number[] {
  return Array.from({ length: last }, (_, at) => at + 1)
}
