// A release from quarantine by two people: it waives the one reason, once, for exactly those bytes, and nothing else.
import * as fs from 'node:fs'
import { join } from 'node:path'
import { expect } from 'vitest'
import { filedropTransport } from '../../../../adapters/transport/filedrop/transport.ts'
import { canonicalJson } from '../../../../daemon/kernel/encoding/canonical-json.ts'
import type { Label } from '../../../../daemon/kernel/label/label.ts'
import type { WaivableReason } from '../../../../daemon/kernel/messaging/release.ts'
import { channel, listReasons, readFolders } from '../../../support/filedrop/filedrop-readers.ts'
import { buildLabel, type FiledropSites, restartSite, start_ms } from '../../../support/filedrop/filedrop-sites.ts'
import { filedropTest } from '../../../support/filedrop/filedrop-test.ts'
import { dropMessage, type ForgeryOptions, forgeMessage } from '../../../support/filedrop/forge-message.ts'
import {
  approvalEvent,
  listQuarantineItems,
  releaseQuarantined,
} from '../../../support/filedrop/release-quarantined.ts'

const test = filedropTest.extend({ options: { receiving: ['bravo'] } })

const formatHours = (count: number) => new Date(start_ms + count * 3_600_000).toISOString()
const buildBravoLabel = (sites: FiledropSites, more: Partial<Label> = {}) => buildLabel(sites.bravo.tenant_id, more)
const buildBody = (sites: FiledropSites, more: object) =>
  canonicalJson({ label: buildBravoLabel(sites), schema: 'test.v1', data: {}, ...more })

async function dropForged(sites: FiledropSites, forgery: ForgeryOptions = {}) {
  const forged = await forgeMessage(sites, forgery)
  dropMessage(sites, forged)
  await sites.bravo.transport.rescan()
  return forged
}

function buildLabelledForgery(sites: FiledropSites, label: unknown): ForgeryOptions {
  return { statement: { label: label }, body: buildBody(sites, { label: label }) }
}

type ReleaseCase = {
  reason: WaivableReason
  what: string
  forgery: (sites: FiledropSites) => ForgeryOptions
  label?: (sites: FiledropSites) => Label
  enters?: (sites: FiledropSites) => Label
}
const cases: readonly ReleaseCase[] = [
  { reason: 'EXPIRED', what: 'too late', forgery: () => ({ statement: { created: formatHours(-24 * 8) } }) },
  { reason: 'FUTURE', what: 'too early', forgery: () => ({ statement: { created: formatHours(2) } }) },
  { reason: 'FAST_FORWARD', what: 'a leap', forgery: () => ({ seq: 2 ** 20 + 1 }) },
  { reason: 'FAST_FORWARD', what: 'an epoch that was not announced', forgery: () => ({ epoch: 9 }) },
  {
    reason: 'LABEL_DENIED',
    what: 'above the ceiling',
    forgery: (sites) => buildLabelledForgery(sites, buildBravoLabel(sites, { level: 'TOP_SECRET' })),
    enters: (sites) => buildBravoLabel(sites, { level: 'TOP_SECRET' }),
  },
  {
    reason: 'LABEL_DENIED',
    what: 'of another policy, under the label that people name',
    forgery: (sites) => buildLabelledForgery(sites, buildBravoLabel(sites, { policy: 'NATO' })),
    label: (sites) => buildBravoLabel(sites, { level: 'SECRET' }),
  },
  {
    reason: 'LABEL_DENIED',
    what: 'not the same in the body, under the label that people name',
    forgery: (sites) => ({ body: buildBody(sites, { label: buildBravoLabel(sites, { level: 'UNCLASSIFIED' }) }) }),
    label: (sites) => buildBravoLabel(sites, { level: 'SECRET' }),
  },
  {
    reason: 'LABEL_MISSING',
    what: 'nowhere, under the label that people name',
    forgery: (sites) => buildLabelledForgery(sites, undefined),
    label: (sites) => buildBravoLabel(sites, { level: 'SECRET' }),
  },
  {
    reason: 'LABEL_MISSING',
    what: 'in the body alone, under the label that was signed',
    forgery: (sites) => ({ body: buildBody(sites, { label: undefined }) }),
    label: (sites) => buildBravoLabel(sites, { level: 'UNCLASSIFIED' }),
    enters: (sites) => buildBravoLabel(sites),
  },
]

test.for(cases)(
  '$reason, $what: it is applied once, and the waiver is spent',
  async ({ forgery, ...expected }, { sites }) => {
    const forged = await dropForged(sites, forgery(sites))
    expect(listReasons(sites)).toEqual([expected.reason])
    expect(sites.bravo.received).toEqual([])
    expect(await releaseQuarantined(sites, expected.label?.(sites))).toBeUndefined()
    expect(listReasons(sites)).toEqual([])
    const { label } = sites.bravo.received[0] ?? {}
    expect([sites.bravo.received.length, label]).toEqual([
      1,
      (expected.enters ?? expected.label ?? buildBravoLabel)(sites),
    ])
    const { work, done, quarantine } = readFolders(sites)
    expect([work, quarantine].flatMap((folder) => fs.readdirSync(folder))).toEqual([])
    expect(fs.readdirSync(done)).toEqual([`${forged.stem}.body.json`, `${forged.stem}.env.json`])
    await sites.bravo.transport.rescan()
    expect(await sites.bravo.journal.waivers(channel)).toEqual([])
    const [applied] = await sites.bravo.audit.list({ action: 'filedrop.message.applied', limit: 9 })
    expect(applied?.event?.detail).toMatchObject({ waived: expected.reason })
    expect(await sites.bravo.audit.list({ action: approvalEvent.action, limit: 9 })).toHaveLength(1)
  },
)

test('POISON: its attempts are forgiven, and counted anew', async ({ sites }) => {
  let isBroken = true
  await restartSite(sites.bravo, () => {
    if (isBroken) throw new Error('a bug in the receiving role')
    return { verdict: 'applied' }
  })
  dropMessage(sites, await forgeMessage(sites))
  for (let i = 0; i < 4; i++) await sites.bravo.transport.rescan()
  expect(listReasons(sites)).toEqual(['POISON'])
  expect(await releaseQuarantined(sites)).toBeUndefined()
  for (let i = 0; i < 4; i++) await sites.bravo.transport.rescan()
  expect(listReasons(sites)).toEqual(['POISON'])
  isBroken = false
  expect(await releaseQuarantined(sites)).toBeUndefined()
  expect(sites.bravo.received).toHaveLength(1)
})

test('QUOTA: it waits behind the gap like those that came in time, and over a restart', async ({ sites }) => {
  await restartSite(sites.bravo, undefined, { max_held: 0 })
  const first = await forgeMessage(sites)
  await dropForged(sites, { seq: 2, statement: { kind: 'result', prev: first.digest } })
  expect(listReasons(sites)).toEqual(['QUOTA'])
  expect(await releaseQuarantined(sites)).toBeUndefined()
  expect([listReasons(sites), fs.readdirSync(readFolders(sites).work).length]).toEqual([[], 2])
  await restartSite(sites.bravo, undefined, { max_held: 0 })
  expect(sites.bravo.received).toEqual([])
  dropMessage(sites, first)
  await sites.bravo.transport.rescan()
  await sites.bravo.transport.rescan()
  expect(sites.bravo.received.map(({ statement }) => statement.seq)).toEqual([1, 2])
})

test('all other checks run again; what fails goes back with its new reason, and the same bytes get nothing more', async ({
  sites,
}) => {
  const forged = await dropForged(sites, { statement: { created: formatHours(-24 * 8), prev: 'a'.repeat(96) } })
  expect(await releaseQuarantined(sites)).toBeUndefined()
  expect(listReasons(sites)).toEqual(['CHAIN_BREAK'])
  dropMessage(sites, forged)
  await sites.bravo.transport.rescan()
  expect(new Set(listReasons(sites))).toEqual(new Set(['CHAIN_BREAK', 'EXPIRED']))
  expect(sites.bravo.received).toEqual([])
})

test('a denied label that nobody here could read stays denied without a label of ours; a missing one keeps the ceiling', async ({
  sites,
}) => {
  await dropForged(sites, buildLabelledForgery(sites, buildBravoLabel(sites, { releasable_to: ['charlie'] })))
  expect(await releaseQuarantined(sites)).toBeUndefined()
  expect(listReasons(sites)).toEqual(['LABEL_DENIED'])
  expect(await releaseQuarantined(sites, buildBravoLabel(sites, { releasable_to: ['charlie'] }))).toBeUndefined()
  expect(listReasons(sites)).toEqual(['LABEL_DENIED'])
  expect(await releaseQuarantined(sites, buildBravoLabel(sites))).toBeUndefined()
  expect(listReasons(sites)).toEqual([])
  await dropForged(sites, { seq: 9, ...buildLabelledForgery(sites, undefined) })
  expect(await releaseQuarantined(sites, buildBravoLabel(sites, { level: 'TOP_SECRET' }))).toBeUndefined()
  expect(listReasons(sites)).toEqual(['LABEL_DENIED'])
})

test('refuses another reason than its own, other digests, and an item that is not a message', async ({ sites }) => {
  await dropForged(sites, { envelope: (text) => text.replace('"payload":"e', '"payload":"f') })
  for (const waiver of ['EXPIRED', 'BAD_SIG'] as WaivableReason[])
    expect(await releaseQuarantined(sites, undefined, { waiver })).toBe('conflict')
  for (const name of fs.readdirSync(readFolders(sites).quarantine)) fs.rmSync(join(readFolders(sites).quarantine, name))
  await dropForged(sites, { statement: { created: formatHours(-24 * 8) } })
  const [item] = listQuarantineItems(sites)
  expect(await releaseQuarantined(sites, undefined, { digests: item?.digests.toReversed() ?? [] })).toBe('conflict')
  fs.appendFileSync(join(readFolders(sites).quarantine, `${item?.id}.body.json`), ' ')
  expect(await releaseQuarantined(sites, undefined, { digests: item?.digests ?? [] })).toBe('conflict')
  expect([sites.bravo.received, await sites.bravo.journal.waivers(channel)]).toEqual([[], []])
})

test('a file swapped between the approval and the scan is judged by its new content', async ({ sites }) => {
  await dropForged(sites, { statement: { created: formatHours(-24 * 8) } })
  const [item] = listQuarantineItems(sites)
  await sites.bravo.transport.stop()
  sites.bravo.transport = filedropTransport(sites.bravo.options())
  expect(await releaseQuarantined(sites)).toBeUndefined()
  fs.writeFileSync(
    join(readFolders(sites).quarantine, `${item?.id}.body.json`),
    buildBody(sites, { data: { evil: true } }),
  )
  await restartSite(sites.bravo)
  expect([sites.bravo.received, listReasons(sites)]).toEqual([[], ['EXPIRED']])
  expect(await sites.bravo.journal.waivers(channel)).toEqual([])
})

test.for([0, 1, 2])('a death after %s files were moved back: the others follow', async (moved, { sites }) => {
  const { stem } = await dropForged(sites, { statement: { created: formatHours(-24 * 8) } })
  const [item] = listQuarantineItems(sites)
  await sites.bravo.transport.stop()
  sites.bravo.transport = filedropTransport(sites.bravo.options())
  expect(await releaseQuarantined(sites)).toBeUndefined()
  const { quarantine, work } = readFolders(sites)
  for (const part of ['body', 'env'].slice(0, moved)) {
    fs.renameSync(join(quarantine, `${item?.id}.${part}.json`), join(work, `${stem}.${part}.json`))
  }
  await restartSite(sites.bravo)
  expect([sites.bravo.received.length, fs.readdirSync(quarantine), fs.readdirSync(work)]).toEqual([1, [], []])
})

test('a repeat of an approval enters nothing twice', async ({ sites }) => {
  await dropForged(sites, { statement: { created: formatHours(-24 * 8) } })
  await sites.bravo.transport.stop()
  sites.bravo.transport = filedropTransport(sites.bravo.options())
  for (let i = 0; i < 3; i++) expect(await releaseQuarantined(sites)).toBeUndefined()
  expect(await sites.bravo.audit.list({ action: approvalEvent.action, limit: 9 })).toHaveLength(1)
  await restartSite(sites.bravo)
  expect(sites.bravo.received).toHaveLength(1)
})

test('nothing is released into a frozen channel, nor over what came meanwhile', async ({ sites }) => {
  await dropForged(sites, { statement: { created: formatHours(-24 * 8) } })
  await sites.bravo.journal.setState(channel, 'frozen', 'people must look')
  expect(await releaseQuarantined(sites)).toBe('conflict')
  await sites.bravo.journal.setState(channel, 'open', '')
  await restartSite(sites.bravo, undefined, { trusted_clock: false })
  await dropForged(sites, { statement: { created: formatHours(-24 * 8) } })
  expect(sites.bravo.received).toHaveLength(1)
  expect(await releaseQuarantined(sites)).toBe('conflict')
  expect(sites.bravo.received).toHaveLength(1)
})

test('two messages under one number: the second freezes the channel, released or not', async ({ sites }) => {
  await dropForged(sites, { statement: { created: formatHours(-24 * 8) } })
  await dropForged(sites, { statement: { max_hops: 0 } })
  expect(sites.bravo.received).toHaveLength(1)
  expect(await releaseQuarantined(sites)).toBeUndefined()
  expect(listReasons(sites)).toEqual(['EQUIVOCATION'])
  expect((await sites.bravo.journal.channels()).find((each) => each.channel === channel)?.state).toBe('frozen')
})

test('a full quarantine is emptied by a release', async ({ sites }) => {
  await dropForged(sites, { statement: { created: formatHours(-24 * 8) } })
  await restartSite(sites.bravo, undefined, { quarantine_max_bytes: 1 })
  await dropForged(sites, {
    seq: 2,
    statement: {
      kind: 'contribution',
      prev: (await forgeMessage(sites, { statement: { created: formatHours(-24 * 8) } })).digest,
    },
  })
  expect(sites.bravo.received).toEqual([])
  expect(await releaseQuarantined(sites)).toBeUndefined()
  expect(sites.bravo.received.map(({ statement }) => statement.seq)).toEqual([1, 2])
})
