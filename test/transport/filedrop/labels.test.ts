// Messages between two sites are within the ceilings and releasable at both ends, also where each has a policy of its own.
import * as fs from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { expect } from 'vitest'
import { isRefusal } from '../../../daemon/kernel/error/errors.ts'
import type { Label } from '../../../daemon/kernel/label/label.ts'
import type { LabelMap } from '../../../daemon/kernel/label/label-map.ts'
import { listReasons } from '../../support/filedrop/filedrop-readers.ts'
import {
  buildLabel,
  buildMessage,
  buildPeer,
  carryFiles,
  type FiledropSites,
  formatReadyPath,
  label_policy,
  restartSite,
  sendFromAlpha,
} from '../../support/filedrop/filedrop-sites.ts'
import { filedropTest } from '../../support/filedrop/filedrop-test.ts'
import { dropMessage, forgeMessage } from '../../support/filedrop/forge-message.ts'
import { sampleTrace } from '../../support/trace/sample-trace.ts'

const test = filedropTest.extend({ options: { receiving: ['alpha', 'bravo'] } })

const nation = { policy: 'NATION', levels: ['OFFEN', 'VERTRAULICH', 'GEHEIM'] }
const map: LabelMap = {
  SITE: {
    levels: { UNCLASSIFIED: 'OFFEN', RESTRICTED: 'VERTRAULICH', SECRET: 'GEHEIM' },
    categories: { NOVA: 'ASTRA' },
  },
}

test('a message numbered under a higher ceiling and not out yet stays here, and all behind it, until people decide', async ({
  sites,
}) => {
  const { alpha } = sites
  const bravo = alpha.pinned.get('bravo')
  if (!bravo) throw new Error('bravo is pinned')
  const [, second] = await sendFromAlpha(sites, 3)
  const ready = formatReadyPath(alpha, 'bravo')
  // As if the process had ended after the first was out, and before it could publish the others.
  for (const name of fs.readdirSync(ready)) if (!name.includes('0001.')) fs.rmSync(join(ready, name))
  alpha.file.db.exec('UPDATE journal_sent SET state = 0 WHERE seq > 1')
  alpha.pinned.set('bravo', { ...bravo, ceiling: { ...bravo.ceiling, level: 'UNCLASSIFIED' } })
  await restartSite(alpha)
  await alpha.transport.rescan()
  expect(fs.readdirSync(ready)).toHaveLength(2)
  const [out] = (await alpha.transport.status()).filter(({ direction }) => direction === 'out')
  expect(out?.detail).toContain(`number ${second?.seq} of epoch 1 waits under a label`)
  alpha.pinned.set('bravo', bravo)
  await alpha.transport.rescan()
  expect(fs.readdirSync(ready)).toHaveLength(6)
})

/** Bravo labels by a policy of its own, and reads alpha's labels by a map. */
async function giveBravoNationalPolicy(sites: FiledropSites, label_map: LabelMap | undefined, level = 'GEHEIM') {
  const ceiling = { policy: 'NATION', level, categories: ['ASTRA'], originator: 'tenant-bravo' }
  sites.bravo.pinned.set('alpha', buildPeer(sites.alpha, { ceiling, ...(label_map ? { label_map } : {}) }))
  await restartSite(sites.bravo, undefined, {}, { label_policy: nation })
}

async function expectCrosses(sites: FiledropSites, label: Partial<Label>): Promise<void> {
  await sendFromAlpha(sites, 1, { label: buildLabel(sites.bravo.tenant_id, label) })
  carryFiles(sites.alpha, sites.bravo)
  await sites.bravo.transport.rescan()
}

test('a label of another policy enters in our terms; the statement keeps what was signed', async ({ sites }) => {
  await giveBravoNationalPolicy(sites, map)
  await expectCrosses(sites, { level: 'SECRET', categories: ['NOVA'], releasable_to: ['tenant-bravo', 'NOR'] })
  const [received] = sites.bravo.received
  expect(received?.label).toEqual({
    policy: 'NATION',
    level: 'GEHEIM',
    categories: ['ASTRA'],
    originator: 'tenant-alpha',
    releasable_to: ['NOR', 'tenant-bravo'],
  })
  expect(received?.statement.label).toMatchObject({ policy: 'SITE', level: 'SECRET', categories: ['NOVA'] })
  const records = await sites.bravo.audit.list({ action: 'filedrop.message.applied', limit: 10 })
  expect(records.map(({ event }) => event?.label)).toMatchObject([{ policy: 'NATION', level: 'GEHEIM' }])
})

test.for<[string, LabelMap | undefined, Partial<Label>]>([
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
])('%s a label of another policy is denied, and nothing of it is applied', async ([_, label_map, label], { sites }) => {
  await giveBravoNationalPolicy(sites, label_map)
  await expectCrosses(sites, label)
  expect(listReasons(sites)).toEqual(['LABEL_DENIED'])
  expect(sites.bravo.received).toEqual([])
})

test('the ceiling counts in our terms: what the sender may send the receiver may still refuse', async ({ sites }) => {
  await giveBravoNationalPolicy(sites, map, 'VERTRAULICH')
  await expectCrosses(sites, { level: 'SECRET' })
  expect(listReasons(sites)).toEqual(['LABEL_DENIED'])
  await expectCrosses(sites, { level: 'RESTRICTED' })
  expect(sites.bravo.received.map(({ label }) => label.level)).toEqual(['VERTRAULICH'])
})

const anySubset = (...of: string[]) => fc.uniqueArray(fc.constantFrom(...of))
const levels = fc.constantFrom(...label_policy.levels)
const labels: fc.Arbitrary<Label> = fc
  .record({
    level: levels,
    categories: anySubset('NOVA', 'X'),
    originator: fc.constantFrom('tenant-alpha', 'tenant-bravo', 'tenant-c'),
    releasable_to: fc.option(anySubset('tenant-alpha', 'tenant-bravo', 'NOR', 'FRA'), { nil: undefined }),
  })
  .map(({ releasable_to, ...rest }) => ({ policy: 'SITE', ...rest, ...(releasable_to ? { releasable_to } : {}) }))

type LabelledEnd = { readonly level: string; readonly categories: string[]; readonly names: string[] }
const ends: fc.Arbitrary<LabelledEnd> = fc.record({
  level: levels,
  categories: anySubset('NOVA', 'X'),
  names: anySubset('NOR', 'FRA'),
})

/** In other words than the code's, and for one end. */
function mayPassEnd(label: Label, { level, categories, names }: LabelledEnd, tenant: string): boolean {
  const rank = (of: string) => label_policy.levels.indexOf(of)
  const audience = label.releasable_to ?? [label.originator]
  return (
    rank(label.level) <= rank(level) &&
    new Set([...categories, ...label.categories]).size === categories.length &&
    [tenant, ...names].some((name) => audience.includes(name))
  )
}

test('for any labels and ends, exactly the messages that both ends pass are applied, and the rest is on record', async ({
  sites,
}) => {
  const ceiling = ({ level, categories }: LabelledEnd) => ({ policy: 'SITE', level, categories, originator: 'x' })
  await fc.assert(
    fc.asyncProperty(ends, ends, fc.array(labels, { minLength: 1, maxLength: 6 }), async (mine, theirs, list) => {
      const { alpha, bravo } = sites
      alpha.pinned.set('bravo', buildPeer(bravo, { ceiling: ceiling(mine), releasable_names: mine.names }))
      bravo.pinned.set('alpha', buildPeer(alpha, { ceiling: ceiling(theirs) }))
      await restartSite(bravo, undefined, {}, { releasable_names: theirs.names })
      const [already, refusedBefore] = [bravo.received.length, listReasons(sites).length]
      const sent: Label[] = []
      for (const label of list) {
        const answer = await alpha.transport
          .send(buildMessage(sites, { label }), sampleTrace)
          .catch((error: unknown) => error)
        expect(isRefusal(answer) ? answer.code : 'sent').toBe(
          mayPassEnd(label, mine, 'tenant-bravo') ? 'sent' : 'label_denied',
        )
        if (!isRefusal(answer)) sent.push(label)
      }
      await alpha.transport.rescan()
      carryFiles(alpha, bravo)
      await bravo.transport.rescan()
      const entered = sent.filter((label) => mayPassEnd(label, theirs, 'tenant-bravo'))
      expect(bravo.received.slice(already).map(({ label }) => label)).toEqual(entered)
      expect(listReasons(sites).slice(refusedBefore)).toEqual(sent.slice(entered.length).map(() => 'LABEL_DENIED'))
    }),
    { numRuns: 25 },
  )
})

test('a sender that asks neither its ceiling nor ours is denied all the same', async ({ sites }) => {
  await giveBravoNationalPolicy(sites, map, 'OFFEN')
  const label = buildLabel(sites.bravo.tenant_id, { level: 'SECRET' })
  const body = JSON.stringify({ data: {}, label, schema: 'test.v1' })
  dropMessage(sites, await forgeMessage(sites, { statement: { label }, body }))
  await sites.bravo.transport.rescan()
  expect(listReasons(sites)).toEqual(['LABEL_DENIED'])
})
