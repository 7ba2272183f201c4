// Sites of two versions side by side: each reads its own and the one before, and sends what the other declared to read.

import * as fs from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import * as z from 'zod'
import { type StatementFormat, statementFormats } from '../../../daemon/kernel/statement-format.ts'
import type { Incoming, Statement } from '../../../daemon/kernel/transport.ts'
import { statement } from '../../../daemon/kernel/transport.ts'
import { aTrace } from '../../support/a-trace.ts'
import { drop, forge } from './forged.ts'
import {
  carry,
  message,
  peerOf,
  quarantineOf,
  readyOf,
  restart,
  type Site,
  startReceiving,
  twoSites,
  type World,
} from './two-sites.ts'

/** A version that says one thing more; what an older one does not say has a value of its own. */
type Urgent = Statement & { readonly urgency: string }
const later = (v: number): StatementFormat => {
  const shape = statement.extend({
    v: z.literal(v),
    label: z.unknown().optional(),
    urgency: z.enum(['routine', 'flash']),
  })
  return {
    v,
    parse: (value) => shape.safeParse(value) as ReturnType<StatementFormat['parse']>,
    write: (said) => ({ ...said, v, urgency: 'flash' }),
  }
}
const first: StatementFormat = {
  v: 1,
  parse(value) {
    const parsed = statementFormats[0]?.parse(value)
    if (!parsed?.success) return parsed as ReturnType<StatementFormat['parse']>
    return { ...parsed, data: { ...parsed.data, urgency: 'routine' } as typeof parsed.data }
  },
  write: (said) => statementFormats[0]?.write(said) ?? {},
}
const second = later(2)

let world: World
beforeEach(async () => {
  world = await twoSites()
  await startReceiving(world.alpha)
  await startReceiving(world.bravo)
})
afterEach(() => world.dispose())

/** Which versions a site knows, and what it believes that the other reads. */
async function reads(site: Site, other: Site, formats: readonly StatementFormat[], max_v: number): Promise<void> {
  site.pinned.set(other.name, peerOf(other, { max_v }))
  await restart(site, undefined, {}, { formats })
}

async function send(from: Site, to: Site): Promise<number[]> {
  const releasable = { ...message(world).label, releasable_to: [to.tenant_id], originator: from.tenant_id }
  await from.transport.send(message(world, { peer: to.name, label: releasable }), aTrace)
  await from.transport.rescan()
  const versions = fs
    .readdirSync(readyOf(from, to.name))
    .filter((name) => name.endsWith('.env.json'))
    .map((name) => {
      const { payload } = JSON.parse(fs.readFileSync(join(readyOf(from, to.name), name), 'utf8'))
      return JSON.parse(Buffer.from(payload, 'base64url').toString()).v as number
    })
  carry(from, to)
  await to.transport.rescan()
  return versions
}

const said = (received: readonly Incoming[]) =>
  received.map(({ statement: { v, kind, ...more } }) => [v, (more as Partial<Urgent>).urgency, kind])

describe.each([
  { alpha: [first], bravo: [first], told: 1, sent: 1, heard: [1, 'routine'] },
  { alpha: [first], bravo: [first, second], told: 2, sent: 1, heard: [1, 'routine'] },
  { alpha: [first, second], bravo: [first], told: 1, sent: 1, heard: [1, 'routine'] },
  { alpha: [first, second], bravo: [first, second], told: 1, sent: 1, heard: [1, 'routine'] },
  { alpha: [first, second], bravo: [first, second], told: 2, sent: 2, heard: [2, 'flash'] },
])('from versions $alpha.length to $bravo.length, told $told', ({ alpha, bravo, told, sent, heard }) => {
  test.each(['alpha', 'bravo'] as const)('what %s sends the other reads', async (name) => {
    const [from, to] = name === 'alpha' ? [world.alpha, world.bravo] : [world.bravo, world.alpha]
    await reads(to, from, bravo, 1)
    await reads(from, to, alpha, told)
    expect(await send(from, to)).toEqual([sent])
    expect(said(to.received)).toEqual([[...heard, 'contribution']])
    expect(quarantineOf(to, from.name)).toEqual([])
  })
})

test('a site brought up to date in the middle of a channel goes on with the next number, in the newer version', async () => {
  const { alpha, bravo } = world
  await reads(bravo, alpha, [first, second], 1)
  await reads(alpha, bravo, [first], 1)
  await send(alpha, bravo)
  await reads(alpha, bravo, [first, second], 2)
  await send(alpha, bravo)
  expect(bravo.received.map(({ statement: { v, seq } }) => [seq, v])).toEqual([
    [1, 1],
    [2, 2],
  ])
})

test('a version that is not known is TYPE, and so is one older than the one before', async () => {
  const { alpha, bravo } = world
  await reads(bravo, alpha, [first], 1)
  await reads(alpha, bravo, [first, second], 2)
  await send(alpha, bravo)
  expect(quarantineOf(bravo, 'alpha').map(({ reason }) => reason)).toEqual(['TYPE'])
  await reads(bravo, alpha, [first, second, later(3)], 1)
  drop(world, await forge(world, { seq: 2 }))
  await bravo.transport.rescan()
  expect(quarantineOf(bravo, 'alpha').map(({ reason }) => reason)).toEqual(['TYPE', 'TYPE'])
  expect(bravo.received).toEqual([])
})

test.each([
  ['the newer version without what it adds', { v: 2 }, 'SCHEMA'],
  ['the older version with what it lacks', { v: 1, urgency: 'flash' }, 'UNKNOWN_FIELD'],
  ['no version', { v: undefined }, 'TYPE'],
  ['a version in words', { v: '2', urgency: 'flash' }, 'TYPE'],
])('%s is refused', async (_, fields, reason) => {
  await reads(world.bravo, world.alpha, [first, second], 1)
  drop(world, await forge(world, { statement: fields }))
  await world.bravo.transport.rescan()
  expect(quarantineOf(world.bravo, 'alpha').map((each) => each.reason)).toEqual([reason])
})

test('to a peer that reads nothing so new nothing is sent, and no number is used up', async () => {
  const { alpha, bravo } = world
  await reads(alpha, bravo, [second, later(3)], 1)
  await expect(alpha.transport.send(message(world), aTrace)).rejects.toMatchObject({ code: 'unavailable' })
  await reads(alpha, bravo, [second, later(3)], 2)
  expect(await alpha.transport.send(message(world), aTrace)).toMatchObject({ seq: 1 })
})
