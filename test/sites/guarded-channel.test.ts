// Guards between two packaged sites of different policies: label maps, a scanner, acknowledgements on an accredited way back.
import * as fs from 'node:fs'
import path from 'node:path'
import { describe, expect } from 'vitest'
import { contribute } from '../../daemon/roles/consensus/session/contribute.ts'
import { create } from '../../daemon/roles/consensus/session/create.ts'
import type { CheckedClient } from '../support/http/checked-client.ts'
import {
  type CourierParcel,
  carryParcels,
  deliverParcels,
  formatChannelFolder,
  listQuarantined,
} from '../support/site/courier.ts'
import type { FederatedSite } from '../support/site/packaged-federation.ts'
import { createPackagedPairTest } from '../support/site/packaged-pair-test.ts'
import {
  carryUntil,
  catchParcel,
  catchSessionParcel,
  findChannel,
  findSession,
  openInvitedSession,
  type PackagedSitePair,
  sharedClassification,
  waitForState,
} from '../support/site/packaged-site-pair.ts'
import { waitUntil } from '../support/site/test-site.ts'

const test = createPackagedPairTest({ prepare: prepareGuardedChannel })

let atBravo: CheckedClient
async function prepareGuardedChannel(pair: PackagedSitePair): Promise<void> {
  const { alpha, bravo } = pair
  installScanner(pair, 'exit 0')
  editProfile(
    bravo,
    /policy: DEMO\n.*\n.*/,
    'policy: NATION\n  levels: [OFFEN, DIENST, GEHEIM]\n  default_level: OFFEN',
  )
  // A sandbox gives up the rights of root: every user must reach the scanner.
  fs.chmodSync(pair.world.dir, 0o711)
  editProfile(bravo, 'filedrop:\n', `filedrop:\n  scanner: { command: [${formatScannerPath(pair)}], timeout_s: 5 }\n`)
  editProfile(bravo, 'filedrop:\n', 'filedrop:\n  acknowledgements: { alpha: { every_s: 10 } }\n')
  for (const site of [alpha, bravo])
    editProfile(site, 'site:\n', `site:\n${formatAccreditation(site === alpha ? bravo : alpha)}`)
  await repinPeer(pair, bravo, alpha, 'DIENST', { DEMO: { levels: { UNCLASSIFIED: 'OFFEN', RESTRICTED: 'DIENST' } } })
  await repinPeer(pair, alpha, bravo, 'CONFIDENTIAL', {
    NATION: { levels: { OFFEN: 'UNCLASSIFIED', DIENST: 'RESTRICTED' } },
  })
}

test.beforeAll(async ({ pair }) => {
  atBravo = await pair.bravo.as('demo', ['operator', 'admin'], 'GEHEIM')
})

const formatScannerPath = (pair: PackagedSitePair) => path.join(pair.world.dir, 'scan')
/** The judge of each body at bravo from now on; undefined: no scanner exists. */
function installScanner(pair: PackagedSitePair, script: string | undefined): void {
  fs.rmSync(formatScannerPath(pair), { force: true })
  if (script === undefined) return
  fs.writeFileSync(`${formatScannerPath(pair)}.new`, `#!/bin/sh\n${script}\n`, { mode: 0o755 })
  fs.renameSync(`${formatScannerPath(pair)}.new`, formatScannerPath(pair))
}

function editProfile(site: FederatedSite, from: string | RegExp, to: string): void {
  const file = path.join(site.dir, 'profile.yaml')
  const text = fs.readFileSync(file, 'utf8')
  const changed = text.replace(from, to)
  if (changed === text) throw new Error(`the profile has no ${from}`)
  fs.writeFileSync(file, changed)
}

const formatAccreditation = ({ name }: FederatedSite) =>
  `  accreditations: { ${name}: { authority: Board, reference: AB-1, valid_until: "2999-12-31" } }\n`

async function repinPeer(
  pair: PackagedSitePair,
  site: FederatedSite,
  peer: FederatedSite,
  ceiling: string,
  map: object,
): Promise<void> {
  const file = path.join(pair.world.dir, `${site.name}-map.json`)
  fs.writeFileSync(file, JSON.stringify(map))
  const { keys } = await site.runJson(['peers', 'show', peer.name])
  const fingerprint = keys.map((key: { fingerprint: string }) => key.fingerprint).join(',')
  await site.runJson(['peers', 'remove', peer.name, '--yes'])
  const words = ['peers', 'add', peer.name, '--keys', peer.keys, '--tenant', peer.name, '--ceiling', ceiling]
  await site.runJson([...words, '--label-map', file, '--fingerprint', fingerprint])
}

/** The invitation to a session that alpha has just opened; all else that is on its way is brought. */
async function catchInvitation(pair: PackagedSitePair): Promise<{ id: string; parcel: CourierParcel }> {
  const id = await openInvitedSession(pair.atAlpha, 0.94)
  return { id, parcel: await catchSessionParcel(pair.toBravo, id) }
}

describe('between two policies', () => {
  test('a message is labelled in the terms of its receiver, and an answer returns in ours', async ({ pair }) => {
    const { atAlpha, toBravo, toAlpha } = pair
    const id = await openInvitedSession(atAlpha, 0.94)
    await carryUntil(toBravo, async () => (await findSession(atBravo, id))?.state === 'PROPOSED')
    expect((await findSession(atBravo, id))?.classification).toMatchObject({ policy: 'NATION', level: 'DIENST' })
    const opinion = { pair_score: 0.92, accuracy: 0.95, credibility: 0.9, signer_key_id: 'bob-1' }
    const classification = { level: 'DIENST', releasable_to: ['alpha', 'bravo'] }
    await atBravo.ok(contribute, { id, contributor_id: 'bob', ...opinion, classification })
    await carryUntil(toAlpha, async () => (await findSession(atAlpha, id))?.state === 'RATIFIED')
    await carryUntil(toBravo, async () => (await findSession(atBravo, id))?.state === 'RATIFIED')
    expect((await findSession(atAlpha, id))?.classification).toMatchObject({ policy: 'DEMO', level: 'RESTRICTED' })
  })

  test('a level that the map does not hold is LABEL_DENIED, though the sender’s ceiling let it go', async ({
    pair,
  }) => {
    const { atAlpha, toBravo } = pair
    const input = { lens_id: 'l', lens_version: '1', policy: { m: 2, n: 2 }, invite: ['bravo'] }
    await atAlpha.ok(create, { ...input, classification: { ...sharedClassification, level: 'CONFIDENTIAL' } })
    expect(await carryUntil(toBravo, async () => listQuarantined(toBravo)[0])).toMatchObject({ reason: 'LABEL_DENIED' })
  })
})

describe('a scanner', () => {
  test('that refuses a body puts its message away, and the channel goes on', async ({ pair }) => {
    installScanner(pair, 'grep -q vessel-identity "$1" && exit 1; exit 0')
    const { id, parcel } = await catchInvitation(pair)
    deliverParcels(pair.toBravo, [parcel])
    await waitUntil(() => listQuarantined(pair.toBravo).find(({ reason }) => reason === 'SCANNER'))
    expect(await findSession(atBravo, id)).toBeUndefined()
    installScanner(pair, 'exit 0')
    const next = await catchInvitation(pair)
    deliverParcels(pair.toBravo, [next.parcel])
    await waitForState(atBravo, next.id, 'PROPOSED')
  })

  test.for<[string, string | undefined, string]>([
    ['hangs', 'sleep 600', 'did not end within 5 s'],
    ['fails', 'exit 7', 'exit code 7'],
    ['is gone', undefined, 'cannot be started'],
  ])('that %s lets nothing in, and loses nothing: intake pauses and says why', async ([, script, why], { pair }) => {
    installScanner(pair, script)
    const before = listQuarantined(pair.toBravo).length
    const { id, parcel } = await catchInvitation(pair)
    deliverParcels(pair.toBravo, [parcel])
    await waitUntil(async () => (await findChannel(atBravo, 'alpha', 'in')).detail.includes(why))
    const status = await pair.bravo.run(['filedrop', 'status'])
    expect(status.stderr).toContain(why)
    expect(await findSession(atBravo, id)).toBeUndefined()
    expect(await findChannel(atBravo, 'alpha', 'in')).toMatchObject({ backlog: 1, quarantined: before })
    installScanner(pair, 'exit 0')
    await waitForState(atBravo, id, 'PROPOSED')
  })
})

test('on the accredited way back acknowledgements of one size bring what was lost again, and nobody asks for it', async ({
  pair,
}) => {
  const { toBravo, toAlpha } = pair
  const { id, parcel } = await catchInvitation(pair)
  const after = await catchInvitation(pair)
  deliverParcels(toBravo, [after.parcel])
  await waitUntil(async () => (await findChannel(atBravo, 'alpha', 'in')).gaps === 1)
  await waitUntil(async () => (await findChannel(pair.atAlpha, 'bravo', 'out')).backlog === 0)
  // Acknowledgements made before the gap was known, or before alpha knew that both had left, do not count.
  carryParcels(toAlpha)
  const sizes: number[] = []
  const oneMore = () =>
    waitUntil(() => {
      const parcels = carryParcels(toAlpha)
      const bodies = parcels.map(({ body }) => body).filter((body) => body.includes('platform.acknowledgement/1'))
      sizes.push(...bodies.map((body) => body.length))
      return bodies.length > 0
    })
  for (let each = 0; each < 2; each++) await oneMore()
  const again = await catchParcel(toBravo, (each) => each.stem === parcel.stem)
  expect(again).toEqual(parcel)
  deliverParcels(toBravo, [again])
  await waitForState(atBravo, id, 'PROPOSED')
  expect(new Set(sizes)).toEqual(new Set([8_192]))
  const resent = ['audit', 'list', '--role', 'site', '--action', 'filedrop.messages.resent']
  expect((await pair.alpha.runJson(resent)).items[0].event).toMatchObject({ detail: { epoch: 1, resent: 1 } })
  expect(fs.readdirSync(formatChannelFolder(pair.alpha, pair.bravo, 'in', 'quarantine'))).toEqual([])
})
