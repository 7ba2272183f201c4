// A sender's list of all sent messages is compared with the arrivals, and its silence is reported.
import { describe, expect } from 'vitest'
import { canonicalJson, sha384 } from '../../../daemon/kernel/encoding/canonical-json.ts'
import { inventory_schema } from '../../../daemon/kernel/messaging/inventory.ts'
import type { Metrics } from '../../../daemon/kernel/telemetry/metrics.ts'
import { channel, listReasons, readInStatus, scanBravo, zeros } from '../../support/filedrop/filedrop-readers.ts'
import {
  buildLabel,
  carryFiles,
  type FiledropSites,
  restartSite,
  sendFromAlpha,
  start_ms,
} from '../../support/filedrop/filedrop-sites.ts'
import { filedropTest } from '../../support/filedrop/filedrop-test.ts'
import { dropMessage, type ForgedMessage, forgeMessage } from '../../support/filedrop/forge-message.ts'

const interval_ms = 300_000
const test = filedropTest.extend({ options: { receiving: ['alpha', 'bravo'] } })

const listAuditEvents = async (sites: FiledropSites, action: string) =>
  (await sites.bravo.audit.list({ action, limit: 9 })).map(({ event }) => event)
const readChannelRecord = async (sites: FiledropSites) =>
  (await sites.bravo.journal.channels()).find((each) => each.channel === channel) ?? { inventory: -1, inventory_at: -1 }
const listTaken = (sites: FiledropSites) => sites.bravo.received.map(({ statement: { seq, kind } }) => `${kind} ${seq}`)

async function passTime(sites: FiledropSites, ms: number): Promise<void> {
  sites.clock.ms += ms
  await sites.alpha.transport.rescan()
}

/** Messages 1 to `count` as alpha signed them. */
async function forgeChain(sites: FiledropSites, count: number): Promise<ForgedMessage[]> {
  const made: ForgedMessage[] = []
  for (let seq = 1; seq <= count; seq++) {
    made.push(await forgeMessage(sites, { seq, statement: { prev: made.at(-1)?.digest ?? zeros } }))
  }
  return made
}

/** The inventory behind them, with changes to what it says. */
async function forgeInventory(
  sites: FiledropSites,
  announced: readonly string[],
  seq: number,
  change: Readonly<Record<string, unknown>> = {},
) {
  const prev = announced.at(-1) ?? zeros
  const data = { epoch: 1, highest: seq - 1, rolling: prev, digests: announced, checkpoints: [], ...change }
  const body = canonicalJson({ label: buildLabel(sites.bravo.tenant_id), schema: inventory_schema, data })
  const content = { sha384: sha384(body), length: Buffer.byteLength(body), schema: inventory_schema }
  return await forgeMessage(sites, { seq, body, statement: { kind: 'inventory', body: content, prev } })
}

test('it is taken at once over a gap, shows the messages missing before it, and is remembered', async ({ sites }) => {
  await sendFromAlpha(sites, 3)
  await passTime(sites, interval_ms)
  carryFiles(sites.alpha, sites.bravo, { only: (file) => /-0+4\./.test(file) })
  await scanBravo(sites)
  expect(listTaken(sites)).toEqual(['inventory 4'])
  expect(await readInStatus(sites)).toMatchObject({ highest_seq: 4, gaps: 3, held: 0, inventory_age_s: 0 })
  expect(await readChannelRecord(sites)).toMatchObject({ inventory: 4, inventory_at: start_ms + interval_ms })
  await restartSite(sites.bravo)
  expect(await readChannelRecord(sites)).toMatchObject({ inventory: 4 })
})

test('one that was overtaken changes nothing', async ({ sites }) => {
  await sendFromAlpha(sites, 1)
  await passTime(sites, interval_ms)
  await passTime(sites, interval_ms)
  carryFiles(sites.alpha, sites.bravo, { only: (file) => /-0+3\./.test(file) })
  await scanBravo(sites)
  sites.clock.ms += 1_000
  carryFiles(sites.alpha, sites.bravo)
  await scanBravo(sites)
  expect(listTaken(sites)).toEqual(['inventory 3', 'contribution 1', 'inventory 2'])
  expect(await readChannelRecord(sites)).toMatchObject({ inventory: 3, inventory_at: start_ms + 2 * interval_ms })
})

describe('an inventory that tells of another message than has come', () => {
  test('freezes the channel, lies in quarantine, and lets nothing behind it in', async ({ sites }) => {
    const [one, two, three] = (await forgeChain(sites, 3)) as [ForgedMessage, ForgedMessage, ForgedMessage]
    for (const each of [one, two, three]) dropMessage(sites, each)
    await scanBravo(sites)
    const other = await forgeInventory(sites, [one.digest, 'f'.repeat(96), three.digest], 4)
    dropMessage(sites, other)
    await scanBravo(sites)
    expect(listReasons(sites)).toEqual(['EQUIVOCATION'])
    expect(await readInStatus(sites)).toMatchObject({ state: 'frozen', highest_seq: 4 })
    const [event] = await listAuditEvents(sites, 'filedrop.channel.equivocation')
    expect(event).toMatchObject({ outcome: 'refused', detail: { epoch: 1, seq: 4, numbers: [2] } })
    expect(await readChannelRecord(sites)).toMatchObject({ inventory: 0 })
    dropMessage(sites, await forgeMessage(sites, { seq: 5, statement: { prev: other.digest } }))
    await scanBravo(sites)
    expect(listTaken(sites)).toHaveLength(3)
  })

  test('once people have opened the channel again, the same contradiction does not freeze it anew', async ({
    sites,
  }) => {
    const [one, two] = (await forgeChain(sites, 2)) as [ForgedMessage, ForgedMessage]
    for (const each of [one, two]) dropMessage(sites, each)
    await scanBravo(sites)
    const first = await forgeInventory(sites, ['e'.repeat(96), two.digest], 3)
    dropMessage(sites, first)
    await scanBravo(sites)
    await sites.bravo.journal.setState(channel, 'open', '')
    const second = await forgeInventory(sites, ['e'.repeat(96), two.digest, first.digest], 4)
    dropMessage(sites, second)
    await scanBravo(sites)
    expect(await readInStatus(sites)).toMatchObject({ state: 'open' })
    expect(await readChannelRecord(sites)).toMatchObject({ inventory: 4 })
    // Another one does.
    dropMessage(sites, await forgeInventory(sites, ['e'.repeat(96), 'd'.repeat(96), first.digest, second.digest], 5))
    await scanBravo(sites)
    expect(await readInStatus(sites)).toMatchObject({ state: 'frozen' })
  })

  test('a death after the freeze leaves it frozen, and the inventory in its place', async ({ sites }) => {
    const [one, two] = (await forgeChain(sites, 2)) as [ForgedMessage, ForgedMessage]
    for (const each of [one, two]) dropMessage(sites, each)
    await scanBravo(sites)
    const journal = new Proxy(sites.bravo.journal, {
      get(target, name, self) {
        if (name !== 'recordOutcomes') return Reflect.get(target, name, self)
        return () => Promise.reject(new Error('the process died here'))
      },
    })
    await restartSite(sites.bravo, undefined, {}, { journal })
    dropMessage(sites, await forgeInventory(sites, ['e'.repeat(96), two.digest], 3))
    await scanBravo(sites)
    await restartSite(sites.bravo)
    expect(await readInStatus(sites)).toMatchObject({ state: 'frozen', backlog: 1 })
    await sites.bravo.journal.setState(channel, 'open', '')
    await scanBravo(sites)
    expect(await readInStatus(sites)).toMatchObject({ state: 'open', backlog: 0 })
    expect(await listAuditEvents(sites, 'filedrop.channel.equivocation')).toHaveLength(1)
  })
})

test.for<[string, Readonly<Record<string, unknown>>, string]>([
  ['of another epoch', { epoch: 2 }, 'SCHEMA'],
  ['that tells of numbers behind its own', { highest: 9 }, 'SCHEMA'],
  ['that leaves out the last number', { highest: 1 }, 'SCHEMA'],
  ['with more digests than there are numbers', { digests: [zeros, zeros, zeros] }, 'SCHEMA'],
  ['whose rolling digest is not its predecessor', { rolling: 'f'.repeat(96) }, 'SCHEMA'],
  ['whose list does not end with the rolling digest', { digests: ['f'.repeat(96)] }, 'SCHEMA'],
  ['with another member', { more: 1 }, 'UNKNOWN_FIELD'],
  ['without a list', { digests: undefined }, 'SCHEMA'],
])('refuses an inventory %s, and its number leaves no gap', async ([_, change, reason], { sites }) => {
  const made = await forgeChain(sites, 2)
  for (const each of made) dropMessage(sites, each)
  const announced = made.map(({ digest }) => digest)
  dropMessage(
    sites,
    await forgeInventory(sites, announced, 3, JSON.parse(JSON.stringify(change, (_key, value) => value ?? null))),
  )
  await scanBravo(sites)
  expect(listReasons(sites)).toEqual([reason])
  expect(await readInStatus(sites)).toMatchObject({ state: 'open', next_seq: 4, gaps: 0 })
  expect(await readChannelRecord(sites)).toMatchObject({ inventory: 0 })
})

describe('three intervals without a word', () => {
  let alarms: string[]
  const metrics = (): Pick<Metrics, 'count' | 'set'> => ({
    count: (metric, labels) => {
      if (metric.name === 'filedrop_alarms_total') alarms.push(String((labels as { alarm: string }).alarm))
    },
    set: () => undefined,
  })
  test.beforeEach(async ({ sites }) => {
    alarms = []
    await restartSite(sites.bravo, undefined, {}, { metrics: metrics() })
  })
  const isStale = async (sites: FiledropSites) => (await readInStatus(sites))?.stale

  test('are reported once, as an error, and end with the next message', async ({ sites }) => {
    sites.clock.ms += 3 * interval_ms - 1
    await scanBravo(sites)
    expect(await isStale(sites)).toBe(false)
    sites.clock.ms += 1
    for (let i = 0; i < 3; i++) await scanBravo(sites)
    expect(await isStale(sites)).toBe(true)
    expect(alarms).toEqual(['stale'])
    expect(await listAuditEvents(sites, 'filedrop.channel.stale')).toHaveLength(1)
    expect(sites.bravo.events.filter(({ event }) => event === 'filedrop.channel.stale')).toHaveLength(1)
    dropMessage(sites, await forgeMessage(sites, { statement: { created: new Date(sites.clock.ms).toISOString() } }))
    await scanBravo(sites)
    expect(await isStale(sites)).toBe(false)
    sites.clock.ms += 3 * interval_ms
    await scanBravo(sites)
    expect(alarms).toEqual(['stale', 'stale'])
  })

  test('a sender that has nothing to say but its inventories is not silent', async ({ sites }) => {
    for (let i = 0; i < 6; i++) {
      await passTime(sites, interval_ms)
      carryFiles(sites.alpha, sites.bravo)
      await scanBravo(sites)
    }
    expect(await isStale(sites)).toBe(false)
    expect(listTaken(sites)).toHaveLength(6)
  })

  test('old files put there again, and files of strangers, break no silence', async ({ sites }) => {
    const [old] = (await forgeChain(sites, 1)) as [ForgedMessage]
    dropMessage(sites, old)
    await scanBravo(sites)
    for (let i = 0; i < 3; i++) {
      sites.clock.ms += interval_ms
      dropMessage(sites, old)
      dropMessage(sites, await forgeMessage(sites, { seq: 2 + i, signatures: sites.bravo.signatures }))
      await scanBravo(sites)
    }
    expect(await isStale(sites)).toBe(true)
  })

  test('each peer’s record says how long an interval is', async ({ sites }) => {
    const alpha = sites.bravo.pinned.get('alpha')
    if (alpha) sites.bravo.pinned.set('alpha', { ...alpha, inventory_interval_s: 86_400 })
    sites.clock.ms += 3 * 86_400_000 - 1
    await scanBravo(sites)
    expect(await isStale(sites)).toBe(false)
    sites.clock.ms += 1
    await scanBravo(sites)
    expect(await isStale(sites)).toBe(true)
  })

  test('a wall clock that jumps, while the site runs or while it is down, raises no alarm', async ({ sites }) => {
    let wall = sites.clock.ms
    const clock = { now: () => wall, monotonic: () => sites.clock.ms }
    await restartSite(sites.bravo, undefined, {}, { clock })
    wall += 90 * 86_400_000
    await scanBravo(sites)
    await restartSite(sites.bravo, undefined, {}, { clock })
    expect(await isStale(sites)).toBe(false)
    wall -= 400 * 86_400_000
    await restartSite(sites.bravo, undefined, {}, { clock })
    sites.clock.ms += 3 * interval_ms - 1
    await scanBravo(sites)
    expect(await isStale(sites)).toBe(false)
  })

  test('a restart puts the alarm off by one interval at most', async ({ sites }) => {
    sites.clock.ms += 3 * interval_ms
    await restartSite(sites.bravo)
    expect(await isStale(sites)).toBe(false)
    sites.clock.ms += interval_ms
    await scanBravo(sites)
    expect(await isStale(sites)).toBe(true)
  })

  test('a channel that stands still here does not make a silent sender: waiting messages are read first', async ({
    sites,
  }) => {
    await sites.bravo.journal.setState(channel, 'frozen', 'for a test')
    sites.clock.ms += 4 * interval_ms
    dropMessage(sites, await forgeMessage(sites, { statement: { created: new Date(sites.clock.ms).toISOString() } }))
    await scanBravo(sites)
    expect(await isStale(sites)).toBe(false)
    await sites.bravo.journal.setState(channel, 'open', '')
    await scanBravo(sites)
    expect(await isStale(sites)).toBe(false)
    expect(alarms).toEqual(['frozen'])
  })
})
