// What a sender tells of all that it has sent is held against what has come, and when it tells nothing any more, that is told.
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { canonicalJson, sha384 } from '../../../daemon/kernel/encoding/canonical-json.ts'
import { inventory_schema } from '../../../daemon/kernel/messaging/inventory.ts'
import type { Metrics } from '../../../daemon/kernel/telemetry/metrics.ts'
import {
  buildLabel,
  carryFiles,
  createFiledropSites,
  type FiledropSites,
  listQuarantineReasons,
  restartSite,
  sendFromAlpha,
  start_ms,
  startReceiving,
} from './filedrop-sites.ts'
import { dropMessage, type ForgedMessage, forgeMessage } from './forge-message.ts'

const interval_ms = 300_000
const channel = 'filedrop/alpha/bravo'
const zeros = '0'.repeat(96)
let world: FiledropSites
beforeEach(async () => {
  world = await createFiledropSites()
  await startReceiving(world.alpha)
  await startReceiving(world.bravo)
})
afterEach(() => world.dispose())

const scanBravo = () => world.bravo.transport.rescan()
const readInStatus = async () => (await world.bravo.transport.status()).find(({ direction }) => direction === 'in')
const listAuditEvents = async (action: string) =>
  (await world.bravo.audit.list({ action, limit: 9 })).map(({ event }) => event)
const readChannelRecord = async () =>
  (await world.bravo.journal.channels()).find((each) => each.channel === channel) ?? { inventory: -1, inventory_at: -1 }
const listTaken = () => world.bravo.received.map(({ statement: { seq, kind } }) => `${kind} ${seq}`)
const listReasons = () => listQuarantineReasons(world.bravo, 'alpha').map(({ reason }) => reason)

async function passTime(ms: number): Promise<void> {
  world.clock.ms += ms
  await world.alpha.transport.rescan()
}

/** Messages 1 to `count` as alpha signed them. */
async function forgeChain(count: number): Promise<ForgedMessage[]> {
  const made: ForgedMessage[] = []
  for (let seq = 1; seq <= count; seq++) {
    made.push(await forgeMessage(world, { seq, statement: { prev: made.at(-1)?.digest ?? zeros } }))
  }
  return made
}

/** The inventory behind them, with changes to what it says. */
async function forgeInventory(told: readonly string[], seq: number, change: Readonly<Record<string, unknown>> = {}) {
  const prev = told.at(-1) ?? zeros
  const data = { epoch: 1, highest: seq - 1, rolling: prev, digests: told, checkpoints: [], ...change }
  const body = canonicalJson({ label: buildLabel(world.bravo.tenant_id), schema: inventory_schema, data })
  const said = { sha384: sha384(body), length: Buffer.byteLength(body), schema: inventory_schema }
  return await forgeMessage(world, { seq, body, statement: { kind: 'inventory', body: said, prev } })
}

test('it is taken at once over a gap, shows what is missing before it, and is remembered', async () => {
  await sendFromAlpha(world, 3)
  await passTime(interval_ms)
  carryFiles(world.alpha, world.bravo, { only: (file) => /-0+4\./.test(file) })
  await scanBravo()
  expect(listTaken()).toEqual(['inventory 4'])
  expect(await readInStatus()).toMatchObject({ highest_seq: 4, gaps: 3, held: 0, inventory_age_s: 0 })
  expect(await readChannelRecord()).toMatchObject({ inventory: 4, inventory_at: start_ms + interval_ms })
  await restartSite(world.bravo)
  expect(await readChannelRecord()).toMatchObject({ inventory: 4 })
})

test('one that was overtaken changes nothing', async () => {
  await sendFromAlpha(world, 1)
  await passTime(interval_ms)
  await passTime(interval_ms)
  carryFiles(world.alpha, world.bravo, { only: (file) => /-0+3\./.test(file) })
  await scanBravo()
  world.clock.ms += 1_000
  carryFiles(world.alpha, world.bravo)
  await scanBravo()
  expect(listTaken()).toEqual(['inventory 3', 'contribution 1', 'inventory 2'])
  expect(await readChannelRecord()).toMatchObject({ inventory: 3, inventory_at: start_ms + 2 * interval_ms })
})

describe('an inventory that tells of another message than has come', () => {
  test('freezes the channel, lies in quarantine, and lets nothing behind it in', async () => {
    const [one, two, three] = (await forgeChain(3)) as [ForgedMessage, ForgedMessage, ForgedMessage]
    for (const each of [one, two, three]) dropMessage(world, each)
    await scanBravo()
    const other = await forgeInventory([one.digest, 'f'.repeat(96), three.digest], 4)
    dropMessage(world, other)
    await scanBravo()
    expect(listReasons()).toEqual(['EQUIVOCATION'])
    expect(await readInStatus()).toMatchObject({ state: 'frozen', highest_seq: 4 })
    const [event] = await listAuditEvents('filedrop.channel.equivocation')
    expect(event).toMatchObject({ outcome: 'refused', detail: { epoch: 1, seq: 4, numbers: [2] } })
    expect(await readChannelRecord()).toMatchObject({ inventory: 0 })
    dropMessage(world, await forgeMessage(world, { seq: 5, statement: { prev: other.digest } }))
    await scanBravo()
    expect(listTaken()).toHaveLength(3)
  })

  test('once people have opened the channel again, the same contradiction does not freeze it anew', async () => {
    const [one, two] = (await forgeChain(2)) as [ForgedMessage, ForgedMessage]
    for (const each of [one, two]) dropMessage(world, each)
    await scanBravo()
    const first = await forgeInventory(['e'.repeat(96), two.digest], 3)
    dropMessage(world, first)
    await scanBravo()
    await world.bravo.journal.setState(channel, 'open', '')
    const second = await forgeInventory(['e'.repeat(96), two.digest, first.digest], 4)
    dropMessage(world, second)
    await scanBravo()
    expect(await readInStatus()).toMatchObject({ state: 'open' })
    expect(await readChannelRecord()).toMatchObject({ inventory: 4 })
    // Another one does.
    dropMessage(world, await forgeInventory(['e'.repeat(96), 'd'.repeat(96), first.digest, second.digest], 5))
    await scanBravo()
    expect(await readInStatus()).toMatchObject({ state: 'frozen' })
  })

  test('a death after the freeze leaves it frozen, and the inventory in its place', async () => {
    const [one, two] = (await forgeChain(2)) as [ForgedMessage, ForgedMessage]
    for (const each of [one, two]) dropMessage(world, each)
    await scanBravo()
    const journal = new Proxy(world.bravo.journal, {
      get(target, name, self) {
        if (name !== 'recordOutcomes') return Reflect.get(target, name, self)
        return () => Promise.reject(new Error('the process died here'))
      },
    })
    await restartSite(world.bravo, undefined, {}, { journal })
    dropMessage(world, await forgeInventory(['e'.repeat(96), two.digest], 3))
    await scanBravo()
    await restartSite(world.bravo)
    expect(await readInStatus()).toMatchObject({ state: 'frozen', backlog: 1 })
    await world.bravo.journal.setState(channel, 'open', '')
    await scanBravo()
    expect(await readInStatus()).toMatchObject({ state: 'open', backlog: 0 })
    expect(await listAuditEvents('filedrop.channel.equivocation')).toHaveLength(1)
  })
})

test.each<[string, Readonly<Record<string, unknown>>, string]>([
  ['of another epoch', { epoch: 2 }, 'SCHEMA'],
  ['that tells of numbers behind its own', { highest: 9 }, 'SCHEMA'],
  ['that leaves out the last number', { highest: 1 }, 'SCHEMA'],
  ['with more digests than there are numbers', { digests: [zeros, zeros, zeros] }, 'SCHEMA'],
  ['whose rolling digest is not its predecessor', { rolling: 'f'.repeat(96) }, 'SCHEMA'],
  ['whose list does not end with the rolling digest', { digests: ['f'.repeat(96)] }, 'SCHEMA'],
  ['with another member', { more: 1 }, 'UNKNOWN_FIELD'],
  ['without a list', { digests: undefined }, 'SCHEMA'],
])('an inventory %s is refused, and its number is no gap', async (_, change, reason) => {
  const made = await forgeChain(2)
  for (const each of made) dropMessage(world, each)
  const told = made.map(({ digest }) => digest)
  dropMessage(world, await forgeInventory(told, 3, JSON.parse(JSON.stringify(change, (_key, value) => value ?? null))))
  await scanBravo()
  expect(listReasons()).toEqual([reason])
  expect(await readInStatus()).toMatchObject({ state: 'open', next_seq: 4, gaps: 0 })
  expect(await readChannelRecord()).toMatchObject({ inventory: 0 })
})

describe('three intervals without a word', () => {
  let alarms: string[]
  const metrics = (): Pick<Metrics, 'count' | 'set'> => ({
    count: (metric, labels) => {
      if (metric.name === 'filedrop_alarms_total') alarms.push(String((labels as { alarm: string }).alarm))
    },
    set: () => undefined,
  })
  beforeEach(async () => {
    alarms = []
    await restartSite(world.bravo, undefined, {}, { metrics: metrics() })
  })
  const isStale = async () => (await readInStatus())?.stale

  test('are told once, loudly, and end with the next message', async () => {
    world.clock.ms += 3 * interval_ms - 1
    await scanBravo()
    expect(await isStale()).toBe(false)
    world.clock.ms += 1
    for (let i = 0; i < 3; i++) await scanBravo()
    expect(await isStale()).toBe(true)
    expect(alarms).toEqual(['stale'])
    expect(await listAuditEvents('filedrop.channel.stale')).toHaveLength(1)
    expect(world.bravo.events.filter(({ event }) => event === 'filedrop.channel.stale')).toHaveLength(1)
    dropMessage(world, await forgeMessage(world, { statement: { created: new Date(world.clock.ms).toISOString() } }))
    await scanBravo()
    expect(await isStale()).toBe(false)
    world.clock.ms += 3 * interval_ms
    await scanBravo()
    expect(alarms).toEqual(['stale', 'stale'])
  })

  test('a sender that has nothing to say but its inventories is not silent', async () => {
    for (let i = 0; i < 6; i++) {
      await passTime(interval_ms)
      carryFiles(world.alpha, world.bravo)
      await scanBravo()
    }
    expect(await isStale()).toBe(false)
    expect(listTaken()).toHaveLength(6)
  })

  test('old files put there again, and files of strangers, break no silence', async () => {
    const [old] = (await forgeChain(1)) as [ForgedMessage]
    dropMessage(world, old)
    await scanBravo()
    for (let i = 0; i < 3; i++) {
      world.clock.ms += interval_ms
      dropMessage(world, old)
      dropMessage(world, await forgeMessage(world, { seq: 2 + i, signatures: world.bravo.signatures }))
      await scanBravo()
    }
    expect(await isStale()).toBe(true)
  })

  test('each peer’s record says how long an interval is', async () => {
    const alpha = world.bravo.pinned.get('alpha')
    if (alpha) world.bravo.pinned.set('alpha', { ...alpha, inventory_interval_s: 86_400 })
    world.clock.ms += 3 * 86_400_000 - 1
    await scanBravo()
    expect(await isStale()).toBe(false)
    world.clock.ms += 1
    await scanBravo()
    expect(await isStale()).toBe(true)
  })

  test('a wall clock that jumps, while the site runs or while it is down, raises no alarm', async () => {
    let wall = world.clock.ms
    const clock = { now: () => wall, monotonic: () => world.clock.ms }
    await restartSite(world.bravo, undefined, {}, { clock })
    wall += 90 * 86_400_000
    await scanBravo()
    await restartSite(world.bravo, undefined, {}, { clock })
    expect(await isStale()).toBe(false)
    wall -= 400 * 86_400_000
    await restartSite(world.bravo, undefined, {}, { clock })
    world.clock.ms += 3 * interval_ms - 1
    await scanBravo()
    expect(await isStale()).toBe(false)
  })

  test('a restart puts the alarm off by one interval at most', async () => {
    world.clock.ms += 3 * interval_ms
    await restartSite(world.bravo)
    expect(await isStale()).toBe(false)
    world.clock.ms += interval_ms
    await scanBravo()
    expect(await isStale()).toBe(true)
  })

  test('a channel that stands still here is no silent sender: what waits is heard first', async () => {
    await world.bravo.journal.setState(channel, 'frozen', 'for a test')
    world.clock.ms += 4 * interval_ms
    dropMessage(world, await forgeMessage(world, { statement: { created: new Date(world.clock.ms).toISOString() } }))
    await scanBravo()
    expect(await isStale()).toBe(false)
    await world.bravo.journal.setState(channel, 'open', '')
    await scanBravo()
    expect(await isStale()).toBe(false)
    expect(alarms).toEqual(['frozen'])
  })
})
