// What stands between two packaged sites of different policies: label maps, a scanner, and acknowledgements on an accredited way back.
import * as fs from 'node:fs'
import path from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { contribute } from '../../daemon/roles/consensus/session/contribute.ts'
import { create } from '../../daemon/roles/consensus/session/create.ts'
import type { PackagedSite } from '../support/packaged-sites.ts'
import type { Person } from '../support/person.ts'
import { until } from '../support/site-world.ts'
import { bring, carry, folderOf, type Parcel, quarantined } from './courier.ts'
import { ask, carryUntil, caught, channelOf, inState, parcelOf, seen, shared, type Two, twoSites } from './question.ts'

let two: Two
let atBravo: Person
beforeAll(async () => {
  two = await twoSites()
  const { alpha, bravo } = two
  scanBy('exit 0')
  edit(bravo, /policy: DEMO\n.*\n.*/, 'policy: NATION\n  levels: [OFFEN, DIENST, GEHEIM]\n  default_level: OFFEN')
  edit(bravo, 'filedrop:\n', `filedrop:\n  scanner: { command: [${scanner()}], timeout_s: 1 }\n`)
  edit(bravo, 'filedrop:\n', 'filedrop:\n  acknowledgements: { alpha: { every_s: 10 } }\n')
  for (const site of [alpha, bravo]) edit(site, 'site:\n', `site:\n${accreditationOf(site === alpha ? bravo : alpha)}`)
  await pinAgain(bravo, alpha, 'DIENST', { DEMO: { levels: { UNCLASSIFIED: 'OFFEN', RESTRICTED: 'DIENST' } } })
  await pinAgain(alpha, bravo, 'CONFIDENTIAL', { NATION: { levels: { OFFEN: 'UNCLASSIFIED', DIENST: 'RESTRICTED' } } })
  await Promise.all([alpha.start(), bravo.start()])
  atBravo = await bravo.as('demo', ['operator', 'admin'], 'GEHEIM')
})
afterAll(() => two?.world.end())

const scanner = () => path.join(two.world.dir, 'scan')
/** What judges each body at bravo from now on; undefined: nothing is there to do it. */
function scanBy(script: string | undefined): void {
  fs.rmSync(scanner(), { force: true })
  if (script === undefined) return
  fs.writeFileSync(`${scanner()}.new`, `#!/bin/sh\n${script}\n`, { mode: 0o755 })
  fs.renameSync(`${scanner()}.new`, scanner())
}

function edit(site: PackagedSite, from: string | RegExp, to: string): void {
  const file = path.join(site.dir, 'profile.yaml')
  const text = fs.readFileSync(file, 'utf8')
  const changed = text.replace(from, to)
  if (changed === text) throw new Error(`the profile has no ${from}`)
  fs.writeFileSync(file, changed)
}

const accreditationOf = ({ name }: PackagedSite) =>
  `  accreditations: { ${name}: { authority: Board, reference: AB-1, valid_until: "2999-12-31" } }\n`

async function pinAgain(site: PackagedSite, peer: PackagedSite, ceiling: string, map: object): Promise<void> {
  const file = path.join(two.world.dir, `${site.name}-map.json`)
  fs.writeFileSync(file, JSON.stringify(map))
  const { keys } = await site.answered(['peers', 'show', peer.name])
  const fingerprint = keys.map((key: { fingerprint: string }) => key.fingerprint).join(',')
  await site.answered(['peers', 'remove', peer.name, '--yes'])
  const words = ['peers', 'add', peer.name, '--keys', peer.keys, '--tenant', peer.name, '--ceiling', ceiling]
  await site.answered([...words, '--label-map', file, '--fingerprint', fingerprint])
}

/** The invitation to a session that alpha has just opened; all else that is on its way is brought. */
async function invitation(): Promise<{ id: string; parcel: Parcel }> {
  const id = await ask(two.atAlpha, 0.94)
  return { id, parcel: await parcelOf(two.there, id) }
}

describe('between two policies', () => {
  test('what crosses is labelled in the terms of where it is, and an answer comes home in ours', async () => {
    const { atAlpha, there, back } = two
    const id = await ask(atAlpha, 0.94)
    await carryUntil(there, async () => (await seen(atBravo, id))?.state === 'PROPOSED')
    expect((await seen(atBravo, id))?.classification).toMatchObject({ policy: 'NATION', level: 'DIENST' })
    const opinion = { pair_score: 0.92, accuracy: 0.95, credibility: 0.9, signer_key_id: 'bob-1' }
    const classification = { level: 'DIENST', releasable_to: ['alpha', 'bravo'] }
    await atBravo.ok(contribute, { id, contributor_id: 'bob', ...opinion, classification })
    await carryUntil(back, async () => (await seen(atAlpha, id))?.state === 'RATIFIED')
    await carryUntil(there, async () => (await seen(atBravo, id))?.state === 'RATIFIED')
    expect((await seen(atAlpha, id))?.classification).toMatchObject({ policy: 'DEMO', level: 'RESTRICTED' })
  })

  test('a level that the map does not hold is LABEL_DENIED, though the sender’s ceiling let it go', async () => {
    const { atAlpha, there } = two
    const given = { lens_id: 'l', lens_version: '1', policy: { m: 2, n: 2 }, invite: ['bravo'] }
    await atAlpha.ok(create, { ...given, classification: { ...shared, level: 'CONFIDENTIAL' } })
    expect(await carryUntil(there, async () => quarantined(there)[0])).toMatchObject({ reason: 'LABEL_DENIED' })
  })
})

describe('a scanner', () => {
  test('that refuses a body puts its message away, and the channel goes on', async () => {
    scanBy('grep -q vessel-identity "$1" && exit 1; exit 0')
    const { id, parcel } = await invitation()
    bring(two.there, [parcel])
    await until(() => quarantined(two.there).find(({ reason }) => reason === 'SCANNER'))
    expect(await seen(atBravo, id)).toBeUndefined()
    scanBy('exit 0')
    const next = await invitation()
    bring(two.there, [next.parcel])
    await inState(atBravo, next.id, 'PROPOSED')
  })

  test.each<[string, string | undefined, string]>([
    ['hangs', 'sleep 600', 'did not end within 1 s'],
    ['fails', 'exit 7', 'exit code 7'],
    ['is gone', undefined, 'cannot be started'],
  ])('that %s lets nothing in, and loses nothing: intake pauses and says why', async (_, script, why) => {
    scanBy(script)
    const before = quarantined(two.there).length
    const { id, parcel } = await invitation()
    bring(two.there, [parcel])
    await until(async () => (await channelOf(atBravo, 'alpha', 'in')).detail.includes(why))
    const status = await two.bravo.platform(['filedrop', 'status'])
    expect(status.stderr).toContain(why)
    expect(await seen(atBravo, id)).toBeUndefined()
    expect(await channelOf(atBravo, 'alpha', 'in')).toMatchObject({ backlog: 1, quarantined: before })
    scanBy('exit 0')
    await inState(atBravo, id, 'PROPOSED')
  })
})

test('on the accredited way back acknowledgements of one size bring what was lost again, and nobody asks for it', async () => {
  const { there, back } = two
  const { id, parcel } = await invitation()
  const after = await invitation()
  bring(there, [after.parcel])
  await until(async () => (await channelOf(atBravo, 'alpha', 'in')).gaps === 1)
  await until(async () => (await channelOf(two.atAlpha, 'bravo', 'out')).backlog === 0)
  // What was made before the gap was known, or before alpha knew that both had left, does not count.
  carry(back)
  const sizes: number[] = []
  const oneMore = () =>
    until(() => {
      const parcels = carry(back)
      const bodies = parcels.map(({ body }) => body).filter((body) => body.includes('platform.acknowledgement/1'))
      sizes.push(...bodies.map((body) => body.length))
      return bodies.length > 0
    })
  for (let each = 0; each < 2; each++) await oneMore()
  const again = await caught(there, (each) => each.stem === parcel.stem)
  expect(again).toEqual(parcel)
  bring(there, [again])
  await inState(atBravo, id, 'PROPOSED')
  expect(new Set(sizes)).toEqual(new Set([8_192]))
  const resent = ['audit', 'list', '--role', 'site', '--action', 'filedrop.messages.resent']
  expect((await two.alpha.answered(resent)).items[0].event).toMatchObject({ detail: { epoch: 1, resent: 1 } })
  expect(fs.readdirSync(folderOf(two.alpha, two.bravo, 'in', 'quarantine'))).toEqual([])
})
