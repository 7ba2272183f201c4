// What two people let out of quarantine: the one reason is passed over, once, for exactly those bytes, and nothing else.
import * as fs from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { filedropTransport } from '../../../adapters/transport/filedrop/transport.ts'
import { canonical } from '../../../daemon/kernel/canonical.ts'
import type { Label } from '../../../daemon/kernel/label.ts'
import type { Waivable } from '../../../daemon/kernel/release.ts'
import { drop, type Forgery, forge } from './forged.ts'
import { event, itemsOf, release } from './release-world.ts'
import {
  incomingOf,
  labelFor,
  quarantineOf,
  restart,
  start_ms,
  startReceiving,
  twoSites,
  type World,
} from './two-sites.ts'

let world: World
beforeEach(async () => {
  world = await twoSites()
  await startReceiving(world.bravo)
})
afterEach(() => world.dispose())

const hours = (count: number) => new Date(start_ms + count * 3_600_000).toISOString()
const channel = 'filedrop/alpha/bravo'
const own = (more: Partial<Label> = {}) => labelFor(world.bravo.tenant_id, more)
const body = (more: object) => canonical({ label: own(), schema: 'test.v1', data: {}, ...more })
const folders = () => incomingOf(world.bravo, 'alpha')
const reasons = () => quarantineOf(world.bravo, 'alpha').map(({ reason }) => reason)

async function put(forgery: Forgery = {}) {
  const forged = await forge(world, forgery)
  drop(world, forged)
  await world.bravo.transport.rescan()
  return forged
}

function labelled(given: unknown): Forgery {
  return { statement: { label: given }, body: body({ label: given }) }
}

type Case = { reason: Waivable; what: string; forgery: () => Forgery; label?: () => Label; enters?: () => Label }
const cases: readonly Case[] = [
  { reason: 'EXPIRED', what: 'too late', forgery: () => ({ statement: { created: hours(-24 * 8) } }) },
  { reason: 'FUTURE', what: 'too early', forgery: () => ({ statement: { created: hours(2) } }) },
  { reason: 'FAST_FORWARD', what: 'a leap', forgery: () => ({ seq: 2 ** 20 + 1 }) },
  { reason: 'FAST_FORWARD', what: 'an epoch that was not announced', forgery: () => ({ epoch: 9 }) },
  {
    reason: 'LABEL_DENIED',
    what: 'above the ceiling',
    forgery: () => labelled(own({ level: 'TOP_SECRET' })),
    enters: () => own({ level: 'TOP_SECRET' }),
  },
  {
    reason: 'LABEL_DENIED',
    what: 'of another policy, under the label that people name',
    forgery: () => labelled(own({ policy: 'NATO' })),
    label: () => own({ level: 'SECRET' }),
  },
  {
    reason: 'LABEL_DENIED',
    what: 'not the same in the body, under the label that people name',
    forgery: () => ({ body: body({ label: own({ level: 'UNCLASSIFIED' }) }) }),
    label: () => own({ level: 'SECRET' }),
  },
  {
    reason: 'LABEL_MISSING',
    what: 'nowhere, under the label that people name',
    forgery: () => labelled(undefined),
    label: () => own({ level: 'SECRET' }),
  },
  {
    reason: 'LABEL_MISSING',
    what: 'in the body alone, under the label that was signed',
    forgery: () => ({ body: body({ label: undefined }) }),
    label: () => own({ level: 'UNCLASSIFIED' }),
    enters: () => own(),
  },
]

test.each(cases)('$reason, $what: it is applied once, and the waiver is spent', async ({ forgery, ...given }) => {
  const forged = await put(forgery())
  expect(reasons()).toEqual([given.reason])
  expect(world.bravo.received).toEqual([])
  expect(await release(world, given.label?.())).toBeUndefined()
  expect(reasons()).toEqual([])
  const { label } = world.bravo.received[0] ?? {}
  expect([world.bravo.received.length, label]).toEqual([1, (given.enters ?? given.label ?? own)()])
  const { work, done, quarantine } = folders()
  expect([work, quarantine].flatMap((folder) => fs.readdirSync(folder))).toEqual([])
  expect(fs.readdirSync(done)).toEqual([`${forged.stem}.body.json`, `${forged.stem}.env.json`])
  await world.bravo.transport.rescan()
  expect(await world.bravo.journal.waivers(channel)).toEqual([])
  const [applied] = await world.bravo.audit.list({ action: 'filedrop.message.applied', limit: 9 })
  expect(applied?.event?.detail).toMatchObject({ waived: given.reason })
  expect(await world.bravo.audit.list({ action: event.action, limit: 9 })).toHaveLength(1)
})

test('POISON: its attempts are forgiven, and counted anew', async () => {
  let isBroken = true
  await restart(world.bravo, () => {
    if (isBroken) throw new Error('a bug in the receiving role')
    return { verdict: 'applied' }
  })
  drop(world, await forge(world))
  for (let i = 0; i < 4; i++) await world.bravo.transport.rescan()
  expect(reasons()).toEqual(['POISON'])
  expect(await release(world)).toBeUndefined()
  for (let i = 0; i < 4; i++) await world.bravo.transport.rescan()
  expect(reasons()).toEqual(['POISON'])
  isBroken = false
  expect(await release(world)).toBeUndefined()
  expect(world.bravo.received).toHaveLength(1)
})

test('QUOTA: it waits behind the gap like those that came in time, and over a restart', async () => {
  await restart(world.bravo, undefined, { max_held: 0 })
  const first = await forge(world)
  await put({ seq: 2, statement: { kind: 'result', prev: first.digest } })
  expect(reasons()).toEqual(['QUOTA'])
  expect(await release(world)).toBeUndefined()
  expect([reasons(), fs.readdirSync(folders().work).length]).toEqual([[], 2])
  await restart(world.bravo, undefined, { max_held: 0 })
  expect(world.bravo.received).toEqual([])
  drop(world, first)
  await world.bravo.transport.rescan()
  await world.bravo.transport.rescan()
  expect(world.bravo.received.map(({ statement }) => statement.seq)).toEqual([1, 2])
})

test('all other checks run again; what fails goes back with its new reason, and the same bytes get nothing more', async () => {
  const forged = await put({ statement: { created: hours(-24 * 8), prev: 'a'.repeat(96) } })
  expect(await release(world)).toBeUndefined()
  expect(reasons()).toEqual(['CHAIN_BREAK'])
  drop(world, forged)
  await world.bravo.transport.rescan()
  expect(new Set(reasons())).toEqual(new Set(['CHAIN_BREAK', 'EXPIRED']))
  expect(world.bravo.received).toEqual([])
})

test('a denied label that nobody here could read stays denied without a label of ours; a missing one keeps the ceiling', async () => {
  await put(labelled(own({ releasable_to: ['charlie'] })))
  expect(await release(world)).toBeUndefined()
  expect(reasons()).toEqual(['LABEL_DENIED'])
  expect(await release(world, own({ releasable_to: ['charlie'] }))).toBeUndefined()
  expect(reasons()).toEqual(['LABEL_DENIED'])
  expect(await release(world, own())).toBeUndefined()
  expect(reasons()).toEqual([])
  await put({ seq: 9, ...labelled(undefined) })
  expect(await release(world, own({ level: 'TOP_SECRET' }))).toBeUndefined()
  expect(reasons()).toEqual(['LABEL_DENIED'])
})

test('another reason than its own, other digests, and what is no message are refused', async () => {
  await put({ envelope: (text) => text.replace('"payload":"e', '"payload":"f') })
  for (const waiver of ['EXPIRED', 'BAD_SIG'] as Waivable[])
    expect(await release(world, undefined, { waiver })).toBe('conflict')
  fs.rmSync(folders().quarantine, { recursive: true })
  fs.mkdirSync(folders().quarantine)
  await put({ statement: { created: hours(-24 * 8) } })
  const [item] = itemsOf(world)
  expect(await release(world, undefined, { digests: item?.digests.toReversed() ?? [] })).toBe('conflict')
  fs.appendFileSync(join(folders().quarantine, `${item?.id}.body.json`), ' ')
  expect(await release(world, undefined, { digests: item?.digests ?? [] })).toBe('conflict')
  expect([world.bravo.received, await world.bravo.journal.waivers(channel)]).toEqual([[], []])
})

test('what is swapped between the approval and the scan is judged as what it is', async () => {
  await put({ statement: { created: hours(-24 * 8) } })
  const [item] = itemsOf(world)
  await world.bravo.transport.stop()
  world.bravo.transport = filedropTransport(world.bravo.options())
  expect(await release(world)).toBeUndefined()
  fs.writeFileSync(join(folders().quarantine, `${item?.id}.body.json`), body({ data: { evil: true } }))
  await restart(world.bravo)
  expect([world.bravo.received, reasons()]).toEqual([[], ['EXPIRED']])
  expect(await world.bravo.journal.waivers(channel)).toEqual([])
})

test.each([0, 1, 2])('a death after %s files were moved back: the others follow', async (moved) => {
  const { stem } = await put({ statement: { created: hours(-24 * 8) } })
  const [item] = itemsOf(world)
  await world.bravo.transport.stop()
  world.bravo.transport = filedropTransport(world.bravo.options())
  expect(await release(world)).toBeUndefined()
  const { quarantine, work } = folders()
  for (const part of ['body', 'env'].slice(0, moved)) {
    fs.renameSync(join(quarantine, `${item?.id}.${part}.json`), join(work, `${stem}.${part}.json`))
  }
  await restart(world.bravo)
  expect([world.bravo.received.length, fs.readdirSync(quarantine), fs.readdirSync(work)]).toEqual([1, [], []])
})

test('a repeat of an approval enters nothing twice', async () => {
  await put({ statement: { created: hours(-24 * 8) } })
  await world.bravo.transport.stop()
  world.bravo.transport = filedropTransport(world.bravo.options())
  for (let i = 0; i < 3; i++) expect(await release(world)).toBeUndefined()
  expect(await world.bravo.audit.list({ action: event.action, limit: 9 })).toHaveLength(1)
  await restart(world.bravo)
  expect(world.bravo.received).toHaveLength(1)
})

test('nothing is released into a frozen channel, nor over what came meanwhile', async () => {
  await put({ statement: { created: hours(-24 * 8) } })
  await world.bravo.journal.setState(channel, 'frozen', 'people must look')
  expect(await release(world)).toBe('conflict')
  await world.bravo.journal.setState(channel, 'open', '')
  await restart(world.bravo, undefined, { trusted_clock: false })
  await put({ statement: { created: hours(-24 * 8) } })
  expect(world.bravo.received).toHaveLength(1)
  expect(await release(world)).toBe('conflict')
  expect(world.bravo.received).toHaveLength(1)
})

test('two messages under one number: the second freezes the channel, released or not', async () => {
  await put({ statement: { created: hours(-24 * 8) } })
  await put({ statement: { max_hops: 0 } })
  expect(world.bravo.received).toHaveLength(1)
  expect(await release(world)).toBeUndefined()
  expect(reasons()).toEqual(['EQUIVOCATION'])
  expect((await world.bravo.journal.channels()).find((each) => each.channel === channel)?.state).toBe('frozen')
})

test('a full quarantine is emptied by a release', async () => {
  await put({ statement: { created: hours(-24 * 8) } })
  await restart(world.bravo, undefined, { quarantine_max_bytes: 1 })
  await put({
    seq: 2,
    statement: { kind: 'contribution', prev: (await forge(world, { statement: { created: hours(-24 * 8) } })).digest },
  })
  expect(world.bravo.received).toEqual([])
  expect(await release(world)).toBeUndefined()
  expect(world.bravo.received.map(({ statement }) => statement.seq)).toEqual([1, 2])
})
