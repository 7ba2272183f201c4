// The loop of one peer sends every message, retries failures with jitter, and lets no message block others.
import { afterEach, expect, test, vi } from 'vitest'
import {
  type CarriedMessage,
  type Carrier,
  type CarryOutcome,
  type Handover,
  PeerBusyError,
} from '../../kernel/messaging/carrier.ts'
import { type LinkPump, linkPump } from './link-pump.ts'

const linkPumps: LinkPump[] = []
afterEach(async () => {
  for (const each of linkPumps.splice(0)) await each.stop()
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
    outcomeOf: async () => ({ outcome: 'applied', code: '' }),
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
