// What two people let out of quarantine: the one reason is passed over, once, for exactly those bytes, and nothing else.
import * as fs from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { filedropTransport } from '../../../adapters/transport/filedrop/transport.ts'
import { canonicalJson } from '../../../daemon/kernel/encoding/canonical-json.ts'
import type { Label } from '../../../daemon/kernel/label/label.ts'
import type { WaivableReason } from '../../../daemon/kernel/messaging/release.ts'
import {
  buildLabel,
  createFiledropSites,
  type FiledropSites,
  listChannelFolders,
  listQuarantineReasons,
  restartSite,
  start_ms,
  startReceiving,
} from './filedrop-sites.ts'
import { dropMessage, type ForgeryOptions, forgeMessage } from './forge-message.ts'
import { approvalEvent, listQuarantineItems, releaseQuarantined } from './release-quarantined.ts'

let world: FiledropSites
beforeEach(async () => {
  world = await createFiledropSites()
  await startReceiving(world.bravo)
})
afterEach(() => world.dispose())

const formatHours = (count: number) => new Date(start_ms + count * 3_600_000).toISOString()
const channel = 'filedrop/alpha/bravo'
const buildBravoLabel = (more: Partial<Label> = {}) => buildLabel(world.bravo.tenant_id, more)
const buildBody = (more: object) => canonicalJson({ label: buildBravoLabel(), schema: 'test.v1', data: {}, ...more })
const readFolders = () => listChannelFolders(world.bravo, 'alpha')
const listReasons = () => listQuarantineReasons(world.bravo, 'alpha').map(({ reason }) => reason)

async function dropForged(forgery: ForgeryOptions = {}) {
  const forged = await forgeMessage(world, forgery)
  dropMessage(world, forged)
  await world.bravo.transport.rescan()
  return forged
}

function buildLabelledForgery(given: unknown): ForgeryOptions {
  return { statement: { label: given }, body: buildBody({ label: given }) }
}

type ReleaseCase = {
  reason: WaivableReason
  what: string
  forgery: () => ForgeryOptions
  label?: () => Label
  enters?: () => Label
}
const cases: readonly ReleaseCase[] = [
  { reason: 'EXPIRED', what: 'too late', forgery: () => ({ statement: { created: formatHours(-24 * 8) } }) },
  { reason: 'FUTURE', what: 'too early', forgery: () => ({ statement: { created: formatHours(2) } }) },
  { reason: 'FAST_FORWARD', what: 'a leap', forgery: () => ({ seq: 2 ** 20 + 1 }) },
  { reason: 'FAST_FORWARD', what: 'an epoch that was not announced', forgery: () => ({ epoch: 9 }) },
  {
    reason: 'LABEL_DENIED',
    what: 'above the ceiling',
    forgery: () => buildLabelledForgery(buildBravoLabel({ level: 'TOP_SECRET' })),
    enters: () => buildBravoLabel({ level: 'TOP_SECRET' }),
  },
  {
    reason: 'LABEL_DENIED',
    what: 'of another policy, under the label that people name',
    forgery: () => buildLabelledForgery(buildBravoLabel({ policy: 'NATO' })),
    label: () => buildBravoLabel({ level: 'SECRET' }),
  },
  {
    reason: 'LABEL_DENIED',
    what: 'not the same in the body, under the label that people name',
    forgery: () => ({ body: buildBody({ label: buildBravoLabel({ level: 'UNCLASSIFIED' }) }) }),
    label: () => buildBravoLabel({ level: 'SECRET' }),
  },
  {
    reason: 'LABEL_MISSING',
    what: 'nowhere, under the label that people name',
    forgery: () => buildLabelledForgery(undefined),
    label: () => buildBravoLabel({ level: 'SECRET' }),
  },
  {
    reason: 'LABEL_MISSING',
    what: 'in the body alone, under the label that was signed',
    forgery: () => ({ body: buildBody({ label: undefined }) }),
    label: () => buildBravoLabel({ level: 'UNCLASSIFIED' }),
    enters: () => buildBravoLabel(),
  },
]

test.each(cases)('$reason, $what: it is applied once, and the waiver is spent', async ({ forgery, ...given }) => {
  const forged = await dropForged(forgery())
  expect(listReasons()).toEqual([given.reason])
  expect(world.bravo.received).toEqual([])
  expect(await releaseQuarantined(world, given.label?.())).toBeUndefined()
  expect(listReasons()).toEqual([])
  const { label } = world.bravo.received[0] ?? {}
  expect([world.bravo.received.length, label]).toEqual([1, (given.enters ?? given.label ?? buildBravoLabel)()])
  const { work, done, quarantine } = readFolders()
  expect([work, quarantine].flatMap((folder) => fs.readdirSync(folder))).toEqual([])
  expect(fs.readdirSync(done)).toEqual([`${forged.stem}.body.json`, `${forged.stem}.env.json`])
  await world.bravo.transport.rescan()
  expect(await world.bravo.journal.waivers(channel)).toEqual([])
  const [applied] = await world.bravo.audit.list({ action: 'filedrop.message.applied', limit: 9 })
  expect(applied?.event?.detail).toMatchObject({ waived: given.reason })
  expect(await world.bravo.audit.list({ action: approvalEvent.action, limit: 9 })).toHaveLength(1)
})

test('POISON: its attempts are forgiven, and counted anew', async () => {
  let isBroken = true
  await restartSite(world.bravo, () => {
    if (isBroken) throw new Error('a bug in the receiving role')
    return { verdict: 'applied' }
  })
  dropMessage(world, await forgeMessage(world))
  for (let i = 0; i < 4; i++) await world.bravo.transport.rescan()
  expect(listReasons()).toEqual(['POISON'])
  expect(await releaseQuarantined(world)).toBeUndefined()
  for (let i = 0; i < 4; i++) await world.bravo.transport.rescan()
  expect(listReasons()).toEqual(['POISON'])
  isBroken = false
  expect(await releaseQuarantined(world)).toBeUndefined()
  expect(world.bravo.received).toHaveLength(1)
})

test('QUOTA: it waits behind the gap like those that came in time, and over a restart', async () => {
  await restartSite(world.bravo, undefined, { max_held: 0 })
  const first = await forgeMessage(world)
  await dropForged({ seq: 2, statement: { kind: 'result', prev: first.digest } })
  expect(listReasons()).toEqual(['QUOTA'])
  expect(await releaseQuarantined(world)).toBeUndefined()
  expect([listReasons(), fs.readdirSync(readFolders().work).length]).toEqual([[], 2])
  await restartSite(world.bravo, undefined, { max_held: 0 })
  expect(world.bravo.received).toEqual([])
  dropMessage(world, first)
  await world.bravo.transport.rescan()
  await world.bravo.transport.rescan()
  expect(world.bravo.received.map(({ statement }) => statement.seq)).toEqual([1, 2])
})

test('all other checks run again; what fails goes back with its new reason, and the same bytes get nothing more', async () => {
  const forged = await dropForged({ statement: { created: formatHours(-24 * 8), prev: 'a'.repeat(96) } })
  expect(await releaseQuarantined(world)).toBeUndefined()
  expect(listReasons()).toEqual(['CHAIN_BREAK'])
  dropMessage(world, forged)
  await world.bravo.transport.rescan()
  expect(new Set(listReasons())).toEqual(new Set(['CHAIN_BREAK', 'EXPIRED']))
  expect(world.bravo.received).toEqual([])
})

test('a denied label that nobody here could read stays denied without a label of ours; a missing one keeps the ceiling', async () => {
  await dropForged(buildLabelledForgery(buildBravoLabel({ releasable_to: ['charlie'] })))
  expect(await releaseQuarantined(world)).toBeUndefined()
  expect(listReasons()).toEqual(['LABEL_DENIED'])
  expect(await releaseQuarantined(world, buildBravoLabel({ releasable_to: ['charlie'] }))).toBeUndefined()
  expect(listReasons()).toEqual(['LABEL_DENIED'])
  expect(await releaseQuarantined(world, buildBravoLabel())).toBeUndefined()
  expect(listReasons()).toEqual([])
  await dropForged({ seq: 9, ...buildLabelledForgery(undefined) })
  expect(await releaseQuarantined(world, buildBravoLabel({ level: 'TOP_SECRET' }))).toBeUndefined()
  expect(listReasons()).toEqual(['LABEL_DENIED'])
})

test('another reason than its own, other digests, and what is no message are refused', async () => {
  await dropForged({ envelope: (text) => text.replace('"payload":"e', '"payload":"f') })
  for (const waiver of ['EXPIRED', 'BAD_SIG'] as WaivableReason[])
    expect(await releaseQuarantined(world, undefined, { waiver })).toBe('conflict')
  fs.rmSync(readFolders().quarantine, { recursive: true })
  fs.mkdirSync(readFolders().quarantine)
  await dropForged({ statement: { created: formatHours(-24 * 8) } })
  const [item] = listQuarantineItems(world)
  expect(await releaseQuarantined(world, undefined, { digests: item?.digests.toReversed() ?? [] })).toBe('conflict')
  fs.appendFileSync(join(readFolders().quarantine, `${item?.id}.body.json`), ' ')
  expect(await releaseQuarantined(world, undefined, { digests: item?.digests ?? [] })).toBe('conflict')
  expect([world.bravo.received, await world.bravo.journal.waivers(channel)]).toEqual([[], []])
})

test('what is swapped between the approval and the scan is judged as what it is', async () => {
  await dropForged({ statement: { created: formatHours(-24 * 8) } })
  const [item] = listQuarantineItems(world)
  await world.bravo.transport.stop()
  world.bravo.transport = filedropTransport(world.bravo.options())
  expect(await releaseQuarantined(world)).toBeUndefined()
  fs.writeFileSync(join(readFolders().quarantine, `${item?.id}.body.json`), buildBody({ data: { evil: true } }))
  await restartSite(world.bravo)
  expect([world.bravo.received, listReasons()]).toEqual([[], ['EXPIRED']])
  expect(await world.bravo.journal.waivers(channel)).toEqual([])
})

test.each([0, 1, 2])('a death after %s files were moved back: the others follow', async (moved) => {
  const { stem } = await dropForged({ statement: { created: formatHours(-24 * 8) } })
  const [item] = listQuarantineItems(world)
  await world.bravo.transport.stop()
  world.bravo.transport = filedropTransport(world.bravo.options())
  expect(await releaseQuarantined(world)).toBeUndefined()
  const { quarantine, work } = readFolders()
  for (const part of ['body', 'env'].slice(0, moved)) {
    fs.renameSync(join(quarantine, `${item?.id}.${part}.json`), join(work, `${stem}.${part}.json`))
  }
  await restartSite(world.bravo)
  expect([world.bravo.received.length, fs.readdirSync(quarantine), fs.readdirSync(work)]).toEqual([1, [], []])
})

test('a repeat of an approval enters nothing twice', async () => {
  await dropForged({ statement: { created: formatHours(-24 * 8) } })
  await world.bravo.transport.stop()
  world.bravo.transport = filedropTransport(world.bravo.options())
  for (let i = 0; i < 3; i++) expect(await releaseQuarantined(world)).toBeUndefined()
  expect(await world.bravo.audit.list({ action: approvalEvent.action, limit: 9 })).toHaveLength(1)
  await restartSite(world.bravo)
  expect(world.bravo.received).toHaveLength(1)
})

test('nothing is released into a frozen channel, nor over what came meanwhile', async () => {
  await dropForged({ statement: { created: formatHours(-24 * 8) } })
  await world.bravo.journal.setState(channel, 'frozen', 'people must look')
  expect(await releaseQuarantined(world)).toBe('conflict')
  await world.bravo.journal.setState(channel, 'open', '')
  await restartSite(world.bravo, undefined, { trusted_clock: false })
  await dropForged({ statement: { created: formatHours(-24 * 8) } })
  expect(world.bravo.received).toHaveLength(1)
  expect(await releaseQuarantined(world)).toBe('conflict')
  expect(world.bravo.received).toHaveLength(1)
})

test('two messages under one number: the second freezes the channel, released or not', async () => {
  await dropForged({ statement: { created: formatHours(-24 * 8) } })
  await dropForged({ statement: { max_hops: 0 } })
  expect(world.bravo.received).toHaveLength(1)
  expect(await releaseQuarantined(world)).toBeUndefined()
  expect(listReasons()).toEqual(['EQUIVOCATION'])
  expect((await world.bravo.journal.channels()).find((each) => each.channel === channel)?.state).toBe('frozen')
})

test('a full quarantine is emptied by a release', async () => {
  await dropForged({ statement: { created: formatHours(-24 * 8) } })
  await restartSite(world.bravo, undefined, { quarantine_max_bytes: 1 })
  await dropForged({
    seq: 2,
    statement: {
      kind: 'contribution',
      prev: (await forgeMessage(world, { statement: { created: formatHours(-24 * 8) } })).digest,
    },
  })
  expect(world.bravo.received).toEqual([])
  expect(await releaseQuarantined(world)).toBeUndefined()
  expect(world.bravo.received.map(({ statement }) => statement.seq)).toEqual([1, 2])
})
