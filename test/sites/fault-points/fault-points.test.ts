// A process dies by SIGKILL at every named step of the carrier, and is started again: what was on its way happens, once.
import * as fs from 'node:fs'
import path from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { filedropFaultPoints } from '../../../adapters/transport/filedrop/fault-points.ts'
import { resend } from '../../../daemon/roles/site/message/resend.ts'
import { findFaultPointExecutable, runExecutable } from '../../support/command/run-executable.ts'
import {
  type CourierParcel,
  carryParcels,
  deliverParcels,
  formatChannelFolder,
  listQuarantined,
} from '../../support/site/courier.ts'
import { enrolReleaser, type QuarantineReleaser } from '../../support/site/enrol-releaser.ts'
import { type FederatedSite, pinFederatedPeer, pinnedCeiling } from '../../support/site/packaged-federation.ts'
import { createPackagedSite } from '../../support/site/packaged-site.ts'
import { carryUntil, contributeOpinion, findChannel } from '../../support/site/packaged-site-pair.ts'
import { waitUntil } from '../../support/site/test-site.ts'
import { type FaultPointSites, startFaultPointSites } from './fault-point-sites.ts'

let sites: FaultPointSites
let ann: QuarantineReleaser
let ben: QuarantineReleaser
beforeAll(async () => {
  sites = await startFaultPointSites()
  ann = await enrolReleaser(sites.two.alpha, 'ann')
  ben = await enrolReleaser(sites.two.alpha, 'ben')
})
afterAll(() => sites?.end())

const listReady = () => fs.readdirSync(formatChannelFolder(sites.two.bravo, sites.two.alpha, 'out', 'ready'))
const listFiles = (...of: string[]) => fs.readdirSync(formatChannelFolder(sites.two.alpha, sites.two.bravo, ...of))

describe('the sender', () => {
  test.each([
    'appended',
    'draft-written',
    'draft-written:2',
    'draft-synced',
    'draft-synced:2',
    'body-published',
    'envelope-published',
    'folder-synced',
    'marked-published',
  ])('%s', async (point) => {
    const id = await sites.openSharedSession()
    const speak = () => contributeOpinion(sites.two.atBravo, id, 'bob', 0.92)
    await sites.dieAt(sites.two.bravo, point, speak)
    await speak()
    await sites.expectAppliedOnce(id)
  })

  test.each(['kept', 'marked-picked-up'])('%s, while a carrier takes it', async (point) => {
    const { atBravo, bravo, toAlpha } = sites.two
    const id = await sites.openSharedSession()
    const speak = () => contributeOpinion(atBravo, id, 'bob', 0.92)
    await sites.dieAt(bravo, point, speak, () => void carryParcels(toAlpha))
    // A report of bravo that was taken shortly before its stop brings it to this point at its start, before it has heard bob.
    await speak()
    await sites.expectAppliedOnce(id)
    // What bravo says for itself meanwhile has to be carried too.
    const isDone = async () => (await findChannel(atBravo, 'alpha', 'out')).backlog === 0 && listReady().length === 0
    await carryUntil(toAlpha, isDone)
  })

  test('resent: what was lost comes by the second attempt', async () => {
    const { atBravo, bravo } = sites.two
    const { id, parcel } = await sites.answerInvitation()
    const [epoch = 0, seq = 0] = parcel.stem.split('-').map(Number)
    const again = () => atBravo.ok(resend, { peer: 'alpha', epoch, first: seq, last: seq })
    await sites.dieAt(bravo, 'resent', again)
    await again()
    await sites.expectAppliedOnce(id)
  })
})

describe('the receiver', () => {
  test.each([
    'read',
    'moved-to-work',
    'moved-to-work:2',
    'received',
    'delivered',
    'applied',
    'moved-to-done',
    'moved-to-done:2',
  ])('%s', async (point) => {
    const { alpha, toAlpha } = sites.two
    const { id, parcel } = await sites.answerInvitation()
    await sites.dieAt(alpha, point, async () => deliverParcels(toAlpha, [parcel]))
    await sites.expectAppliedOnce(id)
    expect(listQuarantined(toAlpha)).toEqual([])
  })

  test.each(['reason-written', 'moved-to-quarantine', 'moved-to-quarantine:2'])('%s', async (point) => {
    const { alpha, toAlpha } = sites.two
    const { id, parcel } = await sites.answerInvitation()
    const body = Buffer.from(parcel.body.toString('utf8').replace('0.92', '0.12'))
    await sites.dieAt(alpha, point, async () => deliverParcels(toAlpha, [{ ...parcel, body }]))
    await waitUntil(() => listFiles('in', 'work').length === 0)
    expect(sites.listUnexplainedFiles()).toEqual([])
    expect(listQuarantined(toAlpha).at(-1)).toMatchObject({ reason: 'BODY_DIGEST' })
    deliverParcels(toAlpha, [parcel])
    await sites.expectAppliedOnce(id)
  })
})

test.each(['waived', 'moved-back', 'moved-back:2', 'reason-removed', 'waiver-spent'])(
  'a release by two people: %s',
  async (point) => {
    const { alpha, toAlpha } = sites.two
    const { id, parcel } = await sites.answerInvitation()
    await repinAlpha('UNCLASSIFIED')
    const known = listQuarantined(toAlpha).length
    deliverParcels(toAlpha, [parcel])
    await waitUntil(() => listQuarantined(toAlpha).length > known && listFiles('in', 'work').length === 0)
    await repinAlpha(pinnedCeiling)
    const item = formatItem(parcel)
    await ann.request(`bravo/${item}`, 'LABEL_DENIED')
    await sites.dieAt(alpha, point, async () => void (await ben.approve(`bravo/${item}`).catch(() => undefined)))
    await sites.expectAppliedOnce(id)
    expect(sites.listUnexplainedFiles()).toEqual([])
    expect(listFiles('in', 'quarantine').filter((name) => name.startsWith(item))).toEqual([])
  },
)

async function repinAlpha(level: string): Promise<void> {
  await sites.two.alpha.runJson(['peers', 'remove', 'bravo', '--yes'])
  await pinFederatedPeer(sites.two.alpha, sites.two.bravo, level)
}

function formatItem({ stem }: CourierParcel): string {
  const name = listFiles('in', 'quarantine').find((each) => each.startsWith(stem) && each.endsWith('.reason.json'))
  if (!name) throw new Error(`${stem} is not in quarantine`)
  return name.replace('.reason.json', '')
}

test('courier-step: an export and an import die after each of their steps', async () => {
  const { alpha, bravo, atBravo } = sites.two
  const medium = path.join(sites.two.world.dir, 'medium')
  fs.mkdirSync(medium)
  const id = await sites.openSharedSession()
  await contributeOpinion(atBravo, id, 'bob', 0.92)
  await waitUntil(async () => (await findChannel(atBravo, 'alpha', 'out')).state === 'open' && listReady().length >= 2)
  const ready = listReady()
  expect(await killAfterEachStep(bravo, ['filedrop', 'export', medium, 'alpha'])).toBeGreaterThan(8)
  expect(listReady().filter((name) => ready.includes(name))).toEqual([])
  expect(await killAfterEachStep(alpha, ['filedrop', 'import', medium])).toBeGreaterThan(5)
  await sites.expectAppliedOnce(id)
  sites.triedPoints.add('courier-step')
})

/** The number of steps in the end. */
async function killAfterEachStep(site: FederatedSite, words: readonly string[]): Promise<number> {
  for (let step = 1; ; step++) {
    const point = `courier-step:${step}`
    const { exit, stderr } = await site.runUntil(point, words)
    if (exit === 0) return step - 1
    expect([exit, stderr.trimEnd().split('\n').at(-1)]).toEqual([null, `fault point ${point}`])
  }
}

describe('in the end', () => {
  test('a process has died at every point that there is', () => {
    // Where an epoch is opened has two sites of its own, in fault-points-epoch.test.ts.
    expect(filedropFaultPoints.filter((point) => !sites.triedPoints.has(point))).toEqual(['epoch-opened'])
  })

  test.each(['alpha', 'bravo'] as const)(
    'the record of %s is whole, its data sound, and each message applied once',
    (name) => sites.expectSoundRecord(sites.two[name]),
  )

  test('no number is missing, and nothing lies in quarantine without its reason', async () => {
    const { atAlpha, atBravo } = sites.two
    expect(await findChannel(atAlpha, 'bravo', 'in')).toMatchObject({ gaps: 0, backlog: 0, state: 'open' })
    expect(await findChannel(atBravo, 'alpha', 'in')).toMatchObject({ gaps: 0, backlog: 0, state: 'open' })
    expect(sites.listUnexplainedFiles()).toEqual([])
  })
})

test('the executable that is released has no fault point that could be set', async () => {
  const site = createPackagedSite('demo')
  const env = { PLATFORM_FAULT_POINT: 'nonsense' }
  try {
    const words = ['serve', '--site', site.dir]
    const { exit, stderr } = await runExecutable(words, { env, program: findFaultPointExecutable() })
    expect([exit, stderr]).toEqual([expect.not.toBeOneOf([0]), expect.stringContaining('unknown fault point nonsense')])
    const served = await site.serve(env)
    await served.stop()
  } finally {
    site.remove()
  }
})
