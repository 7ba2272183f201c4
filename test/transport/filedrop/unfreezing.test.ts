// Two messages under one number: the channel stands still, both signatures are kept, and only a person's word opens it again.
import * as fs from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { AuditEvent } from '../../../daemon/kernel/audit.ts'
import type { Unfrozen } from '../../../daemon/kernel/one-way.ts'
import { aTrace } from '../../support/a-trace.ts'
import { drop, type Forged, forge } from './forged.ts'
import { incomingOf, quarantineOf, restart, start_ms, startReceiving, twoSites, type World } from './two-sites.ts'

const channel = 'filedrop/alpha/bravo'
const zeros = '0'.repeat(96)
let world: World
beforeEach(async () => {
  world = await twoSites()
  await startReceiving(world.bravo)
})
afterEach(() => world.dispose())

const scan = () => world.bravo.transport.rescan()
const inStatus = async () => (await world.bravo.transport.status()).find(({ direction }) => direction === 'in')
const taken = () => world.bravo.received.map(({ statement: { seq } }) => seq)
const quarantined = () => quarantineOf(world.bravo, 'alpha')
const another = (seq: number, letter = 'f') => forge(world, { seq, statement: { msg_id: `msg_${letter.repeat(32)}` } })

const why = (what: Unfrozen): AuditEvent[] => [
  {
    ...{ at: new Date(start_ms).toISOString(), action: 'test.unfreeze', outcome: 'done', tenant_id: 't', subject: 's' },
    ...{ target: channel, trace_id: aTrace.trace_id, detail: { ...what } },
  },
]
const unfreeze = async (peer = 'alpha') => {
  const opened = await world.bravo.transport.oneWay.unfreeze(peer, why)
  await scan()
  return opened
}
const refusal = (asked: Promise<unknown>) =>
  asked.then(
    () => 'nothing',
    (error: { code?: string }) => String(error.code),
  )

describe('after an equivocation', () => {
  let first: Forged
  let second: Forged
  beforeEach(async () => {
    first = await forge(world)
    drop(world, first)
    await scan()
    second = await another(1)
    drop(world, second)
    drop(world, await forge(world, { seq: 2, statement: { prev: first.digest } }))
    await scan()
  })

  test('both envelopes lie in quarantine, byte for byte, and the first message stays where it is', async () => {
    const { quarantine, done } = incomingOf(world.bravo, 'alpha')
    const bytes = (pattern: RegExp) => {
      const [name, ...more] = fs.readdirSync(quarantine).filter((file) => pattern.test(file))
      expect(more).toEqual([])
      return fs.readFileSync(join(quarantine, name ?? ''), 'utf8')
    }
    expect(bytes(/\.env\.json$/)).toBe(second.envelope)
    expect(bytes(/\.first-1-1\.json$/)).toBe(first.envelope)
    expect(bytes(/\.body\.json$/)).toBe(second.body)
    expect(fs.readdirSync(done)).toHaveLength(2)
    const [{ files } = { files: [] }] = quarantined() as unknown as { files: { was: string; bytes: number }[] }[]
    expect(files?.at(-1)).toMatchObject({ was: `done/${first.stem}.env.json`, bytes: first.envelope.length })
    // Longer than the first message's files are kept.
    for (const name of fs.readdirSync(quarantine)) expect(fs.statSync(join(quarantine, name)).mode & 0o777).toBe(0o600)
  })

  test('a person opens it: what waited comes in, what was refused does not, and both are on record', async () => {
    expect(taken()).toEqual([1])
    const detail = (await inStatus())?.detail
    expect(await unfreeze()).toEqual({ peer: 'alpha', channel, was: detail })
    expect(await inStatus()).toMatchObject({ state: 'open', next_seq: 3, quarantined: 1 })
    expect(taken()).toEqual([1, 2])
    const [event] = await world.bravo.audit.list({ action: 'test.unfreeze', limit: 9 })
    expect(event?.event?.detail).toMatchObject({ was: detail })
  })

  test('neither a restart nor anything that arrives opens it', async () => {
    await restart(world.bravo)
    drop(world, await forge(world, { seq: 3 }))
    await scan()
    expect(await inStatus()).toMatchObject({ state: 'frozen' })
    expect(taken()).toEqual([1])
  })

  test('once open, a third message under the number freezes it again', async () => {
    await unfreeze()
    drop(world, await another(1, 'e'))
    await scan()
    expect(await inStatus()).toMatchObject({ state: 'frozen' })
    expect(quarantined().map(({ reason }) => reason)).toEqual(['EQUIVOCATION', 'EQUIVOCATION'])
  })
})

test('what is not frozen cannot be opened, and a channel whose folders are lost stays shut', async () => {
  expect(await refusal(unfreeze())).toBe('conflict')
  expect(await refusal(unfreeze('nobody'))).toBe('not_found')
  await world.bravo.journal.setState(channel, 'frozen', 'for a test')
  fs.rmSync(join(incomingOf(world.bravo, 'alpha').home, 'CHANNEL.json'))
  await unfreeze()
  expect(await inStatus()).toMatchObject({ state: 'stopped' })
})

/** Three messages of which one names another predecessor than there is, in every order of arrival. */
describe('a broken chain is judged only when both neighbours are there', () => {
  const orders = [
    [1, 2, 3],
    [1, 3, 2],
    [2, 1, 3],
    [2, 3, 1],
    [3, 1, 2],
    [3, 2, 1],
  ]
  const cases = orders.flatMap((order) => [2, 3].map((broken) => ({ order, broken })))

  test.each(cases)('arriving as $order with the predecessor of $broken wrong', async ({ order, broken }) => {
    const made: Forged[] = []
    for (const seq of [1, 2, 3]) {
      const prev = seq === broken ? 'f'.repeat(96) : (made.at(-1)?.digest ?? zeros)
      made.push(await forge(world, { seq, statement: { prev } }))
    }
    const arrived: number[] = []
    for (const seq of order) {
      drop(world, made[seq - 1] as Forged)
      await scan()
      arrived.push(seq)
      // The link between `broken` and the number before it has two ends: it breaks when the second of them comes.
      const hasBoth = arrived.includes(broken) && arrived.includes(broken - 1)
      expect(quarantined().map(({ reason }) => reason)).toEqual(hasBoth ? ['CHAIN_BREAK'] : [])
    }
    const second = order.indexOf(broken) > order.indexOf(broken - 1) ? broken : broken - 1
    expect(taken()).toEqual(order.filter((seq) => seq !== second))
    expect(await inStatus()).toMatchObject({ state: 'open', quarantined: 1 })
  })

  test.each(orders)(
    'a first message that names a predecessor breaks by itself, arriving as %i, %i, %i',
    async (...order) => {
      const made: Forged[] = []
      for (const seq of [1, 2, 3]) {
        made.push(await forge(world, { seq, statement: { prev: made.at(-1)?.digest ?? 'f'.repeat(96) } }))
      }
      for (const seq of order) {
        drop(world, made[seq - 1] as Forged)
        await scan()
      }
      expect(quarantined().map(({ reason }) => reason)).toEqual(['CHAIN_BREAK'])
      expect(taken()).toEqual(order.filter((seq) => seq !== 1))
    },
  )
})
