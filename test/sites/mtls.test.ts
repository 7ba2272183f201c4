// Two packaged sites whose messages go over HTTPS with client certificates, set up by commands as operators would; then killed.
import * as fs from 'node:fs'
import path from 'node:path'
import { expect } from 'vitest'
import { everyOperation } from '../../daemon/every-role.ts'
import { list as recordOf } from '../../daemon/roles/consensus/contribution/list.ts'
import { findFreePorts } from '../support/engines/server-process.ts'
import type { FederatedSite } from '../support/site/packaged-federation.ts'
import { createPackagedPairTest } from '../support/site/packaged-pair-test.ts'
import {
  contributeOpinion,
  findChannel,
  findSession,
  openInvitedSession,
  type PackagedSitePair,
  waitForState,
  waitUntilDelivered,
} from '../support/site/packaged-site-pair.ts'
import { runSessionsWhileKilling } from '../support/site/run-sessions-while-killing.ts'
import { waitUntil } from '../support/site/test-site.ts'
import { expectSoundRecord } from './fault-points/fault-point-sites.ts'

const test = createPackagedPairTest({ prepare: prepareMtls })

const seed = Number(process.env.KILL_SEED ?? 20)
const kill_count = 4
const session_count = 15

const findSiteOperation = (path: string) => {
  const found = everyOperation.find(({ role, operation }) => role === 'site' && operation.path === path)
  if (!found) throw new Error(`the site serves no ${path}`)
  return found.operation
}

const ports = new Map<FederatedSite, number>()

async function prepareMtls(pair: PackagedSitePair): Promise<void> {
  const both = [pair.alpha, pair.bravo]
  const free = await findFreePorts(2)
  for (const [at, site] of both.entries()) ports.set(site, free[at] ?? 0)
  for (const site of both) {
    await site.runJson(['keys', 'ca', 'init'])
    await site.runJson(['keys', 'cert', 'issue'])
    await site.runJson(['keys', 'ca', 'show', '--out', formatAuthorityPath(pair, site)])
  }
  for (const site of both) pinWithMtls(pair, site, site === pair.alpha ? pair.bravo : pair.alpha)
}

const formatAuthorityPath = (pair: PackagedSitePair, site: FederatedSite) =>
  path.join(pair.world.dir, `${site.name}-ca.pem`)

function pinWithMtls(pair: PackagedSitePair, site: FederatedSite, peer: FederatedSite): void {
  const pin = `{ url: "https://127.0.0.1:${ports.get(peer)}", ca_file: "${formatAuthorityPath(pair, peer)}" }`
  const block = `\nmtls:\n  port: ${ports.get(site)}\n  peers:\n    ${peer.name}: ${pin}\n`
  fs.appendFileSync(path.join(site.dir, 'profile.yaml'), block)
}

/** One session from its opening to the end at both sites. */
async function ratifySession(pair: PackagedSitePair): Promise<string> {
  const { atAlpha, atBravo } = pair
  const id = await openInvitedSession(atAlpha, 0.94)
  await waitUntil(() => findSession(atBravo, id))
  await contributeOpinion(atBravo, id, 'bob', 0.92)
  await waitForState(atAlpha, id, 'RATIFIED')
  const [home, copy] = [await waitUntilDelivered(atAlpha, id), await waitForState(atBravo, id, 'RATIFIED')]
  expect(copy.evidence_block_id).toBe(home.evidence_block_id)
  return id
}

test('a session is ratified while no courier comes, and both say by what messages go', async ({ pair }) => {
  await ratifySession(pair)
  for (const [person, peer] of [
    [pair.atAlpha, 'bravo'],
    [pair.atBravo, 'alpha'],
  ] as const) {
    expect(await findChannel(person, peer, 'out')).toMatchObject({ transport: 'mtls' })
  }
  for (const person of [pair.atAlpha, pair.atBravo]) {
    expect(await person.ok(findSiteOperation('/service-info'), {})).toMatchObject({
      supported_transports: ['filedrop', 'mtls'],
    })
    expect(await person.ok(findSiteOperation('/health'), {})).toMatchObject({ status: 'ok' })
  }
  const { stdout } = await pair.alpha.run(['doctor'])
  expect(stdout).toMatch(/^ok +mtls +bravo answers$/m)
  expect(stdout).toContain(`site runs, and has 127.0.0.1:${ports.get(pair.alpha)}`)
})

test('a certificate that is renewed while both run is the one that the next peer sees, and nothing stops', async ({
  pair,
}) => {
  const before = await pair.bravo.runJson(['keys', 'cert', 'show'])
  const after = await pair.bravo.runJson(['keys', 'cert', 'renew'])
  expect(after.key).not.toBe(before.key)
  await waitUntil(() => pair.daemons.get(pair.bravo)?.log().includes('mtls.files.changed'))
  await ratifySession(pair)
})

test('either is killed in the middle of it: nothing is lost, and nothing happens twice', async ({ pair }) => {
  const before = (await findChannel(pair.atAlpha, 'bravo', 'out')).sent ?? 0
  const { ids, killed } = await runSessionsWhileKilling({
    pair,
    sessionCount: session_count,
    killCount: kill_count,
    seed,
  })
  expect([killed, new Set(ids).size]).toEqual([kill_count, session_count])
  const { atAlpha, atBravo } = pair
  for (const id of ids) {
    const [home, copy] = [await waitForState(atAlpha, id, 'RATIFIED'), await waitForState(atBravo, id, 'RATIFIED')]
    expect([home.contributions, copy.contributions, home.undelivered, copy.undelivered]).toEqual([2, 1, 0, 0])
    expect(copy.evidence_block_id).toBe(home.evidence_block_id)
    const { items } = await atAlpha.ok(recordOf, { id })
    expect(items.map(({ contributor_id }) => contributor_id)).toEqual(['alice', 'bravo'])
  }
  const sent = before + 2 * session_count
  expect(await findChannel(atAlpha, 'bravo', 'out')).toMatchObject({ sent, highest_seq: sent, state: 'open' })
  const arrived = await waitUntil(async () => {
    const channel = await findChannel(atBravo, 'alpha', 'in')
    return channel.backlog === 0 && channel.received === sent && channel
  })
  expect(arrived).toMatchObject({ highest_seq: sent, gaps: 0, quarantined: 0, state: 'open' })
  for (const site of [pair.alpha, pair.bravo]) await expectSoundRecord(site)
})

test('a certificate of another authority is believed once that is pinned, and what was sent meanwhile waits', async ({
  pair,
}) => {
  const { alpha, bravo, atAlpha, atBravo } = pair
  await bravo.runJson(['keys', 'ca', 'init', '--replace'])
  const changes = () => pair.daemons.get(bravo)?.log().split('mtls.files.changed').length ?? 0
  const before = changes()
  await bravo.runJson(['keys', 'cert', 'renew'])
  await waitUntil(() => changes() > before)
  const id = await openInvitedSession(atAlpha, 0.94)
  await waitUntil(() => /bravo cannot be reached: [^"]*certificate/.test(pair.daemons.get(alpha)?.log() ?? ''))
  expect((await findChannel(atAlpha, 'bravo', 'out')).backlog).toBeGreaterThan(0)
  // The daemon reads the file of pins again when it changes, as it does its own.
  const both = path.join(pair.world.dir, 'both.pem')
  await bravo.runJson(['keys', 'ca', 'show', '--out', both])
  fs.copyFileSync(both, formatAuthorityPath(pair, bravo))
  await waitUntil(() => findSession(atBravo, id))
})
