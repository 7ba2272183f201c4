// What crosses between two sites is within the ceilings and releasable at both ends, also where each has a policy of its own.
import * as fs from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { isRefused } from '../../../daemon/kernel/errors.ts'
import type { Label } from '../../../daemon/kernel/label.ts'
import type { LabelMap } from '../../../daemon/kernel/label-map.ts'
import { aTrace } from '../../support/a-trace.ts'
import { drop, forge } from './forged.ts'
import {
  carry,
  label_policy,
  labelFor,
  message,
  peerOf,
  quarantineOf,
  readyOf,
  restart,
  sendFromAlpha,
  startReceiving,
  twoSites,
  type World,
} from './two-sites.ts'

let world: World
beforeEach(async () => {
  world = await twoSites()
  await startReceiving(world.alpha)
  await startReceiving(world.bravo)
})
afterEach(() => world.dispose())

const nation = { policy: 'NATION', levels: ['OFFEN', 'VERTRAULICH', 'GEHEIM'] }
const map: LabelMap = {
  SITE: {
    levels: { UNCLASSIFIED: 'OFFEN', RESTRICTED: 'VERTRAULICH', SECRET: 'GEHEIM' },
    categories: { NOVA: 'ASTRA' },
  },
}

test('what was numbered under a higher ceiling and is not out yet stays here, and all behind it, until people decide', async () => {
  const { alpha } = world
  const bravo = alpha.pinned.get('bravo')
  if (!bravo) throw new Error('bravo is pinned')
  const [, second] = await sendFromAlpha(world, 3)
  const ready = readyOf(alpha, 'bravo')
  // As if the process had ended after the first was out, and before it could publish the others.
  for (const name of fs.readdirSync(ready)) if (!name.includes('0001.')) fs.rmSync(join(ready, name))
  alpha.file.db.exec('UPDATE journal_sent SET state = 0 WHERE seq > 1')
  alpha.pinned.set('bravo', { ...bravo, ceiling: { ...bravo.ceiling, level: 'UNCLASSIFIED' } })
  await restart(alpha)
  await alpha.transport.rescan()
  expect(fs.readdirSync(ready)).toHaveLength(2)
  const [out] = (await alpha.transport.status()).filter(({ direction }) => direction === 'out')
  expect(out?.detail).toContain(`number ${second?.seq} of epoch 1 waits under a label`)
  alpha.pinned.set('bravo', bravo)
  await alpha.transport.rescan()
  expect(fs.readdirSync(ready)).toHaveLength(6)
})

/** Bravo labels by a policy of its own, and reads alpha's labels by a map. */
async function bravoIsANation(label_map: LabelMap | undefined, level = 'GEHEIM') {
  const ceiling = { policy: 'NATION', level, categories: ['ASTRA'], originator: 'tenant-bravo' }
  world.bravo.pinned.set('alpha', peerOf(world.alpha, { ceiling, ...(label_map ? { label_map } : {}) }))
  await restart(world.bravo, undefined, {}, { label_policy: nation })
}

const reasons = () => quarantineOf(world.bravo, 'alpha').map(({ reason }) => reason)

async function crosses(label: Partial<Label>): Promise<void> {
  await sendFromAlpha(world, 1, { label: labelFor(world.bravo.tenant_id, label) })
  carry(world.alpha, world.bravo)
  await world.bravo.transport.rescan()
}

test('a label of another policy enters in our terms; the statement keeps what was signed', async () => {
  await bravoIsANation(map)
  await crosses({ level: 'SECRET', categories: ['NOVA'], releasable_to: ['tenant-bravo', 'NOR'] })
  const [received] = world.bravo.received
  expect(received?.label).toEqual({
    policy: 'NATION',
    level: 'GEHEIM',
    categories: ['ASTRA'],
    originator: 'tenant-alpha',
    releasable_to: ['NOR', 'tenant-bravo'],
  })
  expect(received?.statement.label).toMatchObject({ policy: 'SITE', level: 'SECRET', categories: ['NOVA'] })
  const records = await world.bravo.audit.list({ action: 'filedrop.message.applied', limit: 10 })
  expect(records.map(({ event }) => event?.label)).toMatchObject([{ policy: 'NATION', level: 'GEHEIM' }])
})

test.each<[string, LabelMap | undefined, Partial<Label>]>([
  ['without a map', undefined, {}],
  ['with a map of other policies', { OTHER: { levels: { RESTRICTED: 'OFFEN' }, categories: {} } }, {}],
  ['with a level that the map lacks', { SITE: { levels: { SECRET: 'GEHEIM' }, categories: {} } }, {}],
  [
    'with a category that the map lacks',
    { SITE: { levels: { RESTRICTED: 'OFFEN' }, categories: {} } },
    { categories: ['NOVA'] },
  ],
  [
    'with a map of audiences that leaves us out',
    { SITE: { levels: { RESTRICTED: 'OFFEN' }, categories: {}, releasable_to: { NOR: 'NOR' } } },
    { releasable_to: ['tenant-bravo', 'NOR'] },
  ],
])('%s a label of another policy is denied, and nothing of it is applied', async (_, label_map, label) => {
  await bravoIsANation(label_map)
  await crosses(label)
  expect(reasons()).toEqual(['LABEL_DENIED'])
  expect(world.bravo.received).toEqual([])
})

test('the ceiling counts in our terms: what the sender may send the receiver may still refuse', async () => {
  await bravoIsANation(map, 'VERTRAULICH')
  await crosses({ level: 'SECRET' })
  expect(reasons()).toEqual(['LABEL_DENIED'])
  await crosses({ level: 'RESTRICTED' })
  expect(world.bravo.received.map(({ label }) => label.level)).toEqual(['VERTRAULICH'])
})

const some = (...of: string[]) => fc.uniqueArray(fc.constantFrom(...of))
const levels = fc.constantFrom(...label_policy.levels)
const labels: fc.Arbitrary<Label> = fc
  .record({
    level: levels,
    categories: some('NOVA', 'X'),
    originator: fc.constantFrom('tenant-alpha', 'tenant-bravo', 'tenant-c'),
    releasable_to: fc.option(some('tenant-alpha', 'tenant-bravo', 'NOR', 'FRA'), { nil: undefined }),
  })
  .map(({ releasable_to, ...rest }) => ({ policy: 'SITE', ...rest, ...(releasable_to ? { releasable_to } : {}) }))

type End = { readonly level: string; readonly categories: string[]; readonly names: string[] }
const ends: fc.Arbitrary<End> = fc.record({ level: levels, categories: some('NOVA', 'X'), names: some('NOR', 'FRA') })

/** In other words than the code's, and for one end. */
function passes(label: Label, { level, categories, names }: End, tenant: string): boolean {
  const rank = (of: string) => label_policy.levels.indexOf(of)
  const audience = label.releasable_to ?? [label.originator]
  return (
    rank(label.level) <= rank(level) &&
    new Set([...categories, ...label.categories]).size === categories.length &&
    [tenant, ...names].some((name) => audience.includes(name))
  )
}

test('whatever the labels and the ends, exactly what both ends let pass is applied, and the rest is on record', async () => {
  const ceiling = ({ level, categories }: End) => ({ policy: 'SITE', level, categories, originator: 'x' })
  await fc.assert(
    fc.asyncProperty(ends, ends, fc.array(labels, { minLength: 1, maxLength: 6 }), async (mine, theirs, list) => {
      const { alpha, bravo } = world
      alpha.pinned.set('bravo', peerOf(bravo, { ceiling: ceiling(mine), releasable_names: mine.names }))
      bravo.pinned.set('alpha', peerOf(alpha, { ceiling: ceiling(theirs) }))
      await restart(bravo, undefined, {}, { releasable_names: theirs.names })
      const [already, refusedBefore] = [bravo.received.length, reasons().length]
      const sent: Label[] = []
      for (const label of list) {
        const answer = await alpha.transport.send(message(world, { label }), aTrace).catch((error: unknown) => error)
        expect(isRefused(answer) ? answer.code : 'sent').toBe(
          passes(label, mine, 'tenant-bravo') ? 'sent' : 'label_denied',
        )
        if (!isRefused(answer)) sent.push(label)
      }
      await alpha.transport.rescan()
      carry(alpha, bravo)
      await bravo.transport.rescan()
      const entered = sent.filter((label) => passes(label, theirs, 'tenant-bravo'))
      expect(bravo.received.slice(already).map(({ label }) => label)).toEqual(entered)
      expect(reasons().slice(refusedBefore)).toEqual(sent.slice(entered.length).map(() => 'LABEL_DENIED'))
    }),
    { numRuns: 25 },
  )
})

test('a sender that asks neither its ceiling nor ours is denied all the same', async () => {
  await bravoIsANation(map, 'OFFEN')
  const label = labelFor(world.bravo.tenant_id, { level: 'SECRET' })
  const body = JSON.stringify({ data: {}, label, schema: 'test.v1' })
  drop(world, await forge(world, { statement: { label }, body }))
  await world.bravo.transport.rescan()
  expect(reasons()).toEqual(['LABEL_DENIED'])
})
