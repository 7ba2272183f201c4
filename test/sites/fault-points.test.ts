// A process dies by SIGKILL at every named step of the carrier, and is started again: what was on its way happens, once.
import * as fs from 'node:fs'
import path from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { faultPoints } from '../../adapters/transport/filedrop/fault-points.ts'
import { resend } from '../../daemon/roles/site/message/resend.ts'
import { executable, executableWithFaultPoints } from '../support/packaged-site.ts'
import { ceiling, type PackagedSite, pin } from '../support/packaged-sites.ts'
import { until } from '../support/site-world.ts'
import { bring, carry, folderOf, type Parcel, quarantined } from './courier.ts'
import { type Deaths, deaths } from './deaths.ts'
import { channelOf, say } from './question.ts'
import { type Releaser, releaser } from './releaser.ts'

let on: Deaths
let ann: Releaser
let ben: Releaser
beforeAll(async () => {
  on = await deaths()
  ann = await releaser(on.two.alpha, 'ann')
  ben = await releaser(on.two.alpha, 'ben')
})
afterAll(() => on?.end())

const names = (...of: string[]) => fs.readdirSync(folderOf(on.two.alpha, on.two.bravo, ...of))

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
    const id = await on.invited()
    const speak = () => say(on.two.atBravo, id, 'bob', 0.92)
    await on.diesAt(on.two.bravo, point, speak)
    await speak()
    await on.happensOnce(id)
  })

  test.each(['kept', 'marked-picked-up'])('%s, while a carrier takes it', async (point) => {
    const { atBravo, alpha, bravo, back } = on.two
    const id = await on.invited()
    await on.diesAt(
      bravo,
      point,
      () => say(atBravo, id, 'bob', 0.92),
      () => void carry(back),
    )
    await on.happensOnce(id)
    await until(async () => (await channelOf(atBravo, 'alpha', 'out')).backlog === 0)
    expect(fs.readdirSync(folderOf(bravo, alpha, 'out', 'ready'))).toEqual([])
  })

  test('resent: what was lost comes by the second attempt', async () => {
    const { atBravo, bravo } = on.two
    const { id, parcel } = await on.spoken()
    const [epoch = 0, seq = 0] = parcel.stem.split('-').map(Number)
    const again = () => atBravo.ok(resend, { peer: 'alpha', epoch, first: seq, last: seq })
    await on.diesAt(bravo, 'resent', again)
    await again()
    await on.happensOnce(id)
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
    const { alpha, back } = on.two
    const { id, parcel } = await on.spoken()
    await on.diesAt(alpha, point, async () => bring(back, [parcel]))
    await on.happensOnce(id)
    expect(quarantined(back)).toEqual([])
  })

  test.each(['reason-written', 'moved-to-quarantine', 'moved-to-quarantine:2'])('%s', async (point) => {
    const { alpha, back } = on.two
    const { id, parcel } = await on.spoken()
    const body = Buffer.from(parcel.body.toString('utf8').replace('0.92', '0.12'))
    await on.diesAt(alpha, point, async () => bring(back, [{ ...parcel, body }]))
    await until(() => names('in', 'work').length === 0)
    expect(on.unexplained()).toEqual([])
    expect(quarantined(back).at(-1)).toMatchObject({ reason: 'BODY_DIGEST' })
    bring(back, [parcel])
    await on.happensOnce(id)
  })
})

test.each(['waived', 'moved-back', 'moved-back:2', 'reason-removed', 'waiver-spent'])(
  'a release by two people: %s',
  async (point) => {
    const { alpha, back } = on.two
    const { id, parcel } = await on.spoken()
    await repinned('UNCLASSIFIED')
    const known = quarantined(back).length
    bring(back, [parcel])
    await until(() => quarantined(back).length > known && names('in', 'work').length === 0)
    await repinned(ceiling)
    const item = itemOf(parcel)
    await ann.request(`bravo/${item}`, 'LABEL_DENIED')
    await on.diesAt(alpha, point, async () => void (await ben.approve(`bravo/${item}`).catch(() => undefined)))
    await on.happensOnce(id)
    expect(on.unexplained()).toEqual([])
    expect(names('in', 'quarantine').filter((name) => name.startsWith(item))).toEqual([])
  },
)

async function repinned(level: string): Promise<void> {
  await on.two.alpha.answered(['peers', 'remove', 'bravo', '--yes'])
  await pin(on.two.alpha, on.two.bravo, level)
}

function itemOf({ stem }: Parcel): string {
  const name = names('in', 'quarantine').find((each) => each.startsWith(stem) && each.endsWith('.reason.json'))
  if (!name) throw new Error(`${stem} is not in quarantine`)
  return name.replace('.reason.json', '')
}

test('courier-step: an export and an import die after each of their steps', async () => {
  const { alpha, bravo, atBravo } = on.two
  const medium = path.join(on.two.world.dir, 'medium')
  fs.mkdirSync(medium)
  const id = await on.invited()
  await say(atBravo, id, 'bob', 0.92)
  await until(async () => (await channelOf(atBravo, 'alpha', 'out')).state === 'open' && ready().length >= 2)
  expect(await diesAfterEachStep(bravo, ['filedrop', 'export', medium, 'alpha'])).toBeGreaterThan(8)
  await until(() => ready().length === 0)
  expect(await diesAfterEachStep(alpha, ['filedrop', 'import', medium])).toBeGreaterThan(5)
  await on.happensOnce(id)
  on.tried.add('courier-step')
})

const ready = () => fs.readdirSync(folderOf(on.two.bravo, on.two.alpha, 'out', 'ready'))

/** How many steps there were in the end. */
async function diesAfterEachStep(site: PackagedSite, words: readonly string[]): Promise<number> {
  for (let step = 1; ; step++) {
    const point = `courier-step:${step}`
    const { exit, stderr } = await site.platformUntil(point, words)
    if (exit === 0) return step - 1
    expect([exit, stderr.trimEnd().split('\n').at(-1)]).toEqual([null, `fault point ${point}`])
  }
}

describe('in the end', () => {
  test('a process has died at every point that there is', () => {
    // Where an epoch is opened has two sites of its own, in fault-points-epoch.test.ts.
    expect(faultPoints.filter((point) => !on.tried.has(point))).toEqual(['epoch-opened'])
  })

  test.each(['alpha', 'bravo'] as const)(
    'the record of %s is whole, its data sound, and each message applied once',
    (name) => on.soundRecord(on.two[name]),
  )

  test('no number is missing, and nothing lies in quarantine without its reason', async () => {
    const { atAlpha, atBravo } = on.two
    expect(await channelOf(atAlpha, 'bravo', 'in')).toMatchObject({ gaps: 0, backlog: 0, state: 'open' })
    expect(await channelOf(atBravo, 'alpha', 'in')).toMatchObject({ gaps: 0, backlog: 0, state: 'open' })
    expect(on.unexplained()).toEqual([])
  })
})

describe('the executable', () => {
  const holds = (file: string, text: string) => fs.readFileSync(file).includes(text)

  test('that is released has no fault point that could be set', () => {
    for (const text of ['PLATFORM_FAULT_POINT', 'there is no fault point', 'HAS_FAULT_POINTS']) {
      expect([text, holds(executable(), text)]).toEqual([text, false])
    }
    expect(holds(executableWithFaultPoints(), 'PLATFORM_FAULT_POINT')).toBe(true)
  })
})
