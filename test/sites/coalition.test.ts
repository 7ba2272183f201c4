// Three daemons, one of them a hub: two sites decide together with no courier, whichever of the three is killed meanwhile.
import * as fs from 'node:fs'
import path from 'node:path'
import { expect } from 'vitest'
import { list as recordOf } from '../../daemon/roles/consensus/contribution/list.ts'
import { contribute } from '../../daemon/roles/consensus/session/contribute.ts'
import { create } from '../../daemon/roles/consensus/session/create.ts'
import type { FeedEntry } from '../../daemon/shared/coalition/hub-protocol.ts'
import { findFreePorts } from '../support/engines/server-process.ts'
import { listQuarantined } from '../support/site/courier.ts'
import { editProfile, type FederatedSite, findSite } from '../support/site/packaged-federation.ts'
import { createPackagedPairTest, type RunningSitePair } from '../support/site/packaged-pair-test.ts'
import {
  contributeOpinion,
  findChannel,
  findSession,
  openInvitedSession,
  type PackagedSitePair,
  sharedClassification,
  waitForState,
  waitUntilDelivered,
} from '../support/site/packaged-site-pair.ts'
import { waitUntil } from '../support/site/test-site.ts'

const test = createPackagedPairTest({ otherSites: ['hub'], prepare: prepareHub, isStarted: false })

let hub: FederatedSite

async function prepareHub(pair: PackagedSitePair): Promise<void> {
  hub = findSite(pair.world, 'hub')
  const [at_site = 0, at_hub = 0] = await findFreePorts(2)
  const secret_file = path.join(pair.world.dir, 'node.secret')
  fs.writeFileSync(secret_file, 'a-secret-of-this-test-alone\n', { mode: 0o600 })
  const names = ['alpha', 'bravo']
  editProfile(hub, {
    platform: { roles: ['site', 'hub'] },
    site: { port: at_site },
    hub: {
      port: at_hub,
      metrics_listen: 'none',
      nodes: Object.fromEntries(names.map((name) => [name, { subject: `node:${name}` }])),
    },
    identity: {
      clients: names.map((name) => ({ client_id: name, secret_file, subject: `node:${name}`, roles: ['node'] })),
    },
  })
  for (const [site, peer] of [
    [pair.alpha, 'bravo'],
    [pair.bravo, 'alpha'],
  ] as const) {
    editProfile(site, {
      coalition: {
        hub_url: `http://127.0.0.1:${at_hub}`,
        token_url: `http://127.0.0.1:${at_site}/oauth2/token`,
        secret_file,
        peers: [peer],
        accepts: [{ type: 'opinion', lens_id: 'vessel-identity' }],
        feed_level: 'RESTRICTED',
        feed_audience: names,
      },
    })
  }
}

test.beforeAll(async ({ pair: { alpha, bravo, daemons } }) => {
  // The hub starts last: a node must bear that its hub is not there yet.
  for (const site of [alpha, bravo, hub]) daemons.set(site, await site.start())
})

async function killDaemon({ daemons }: RunningSitePair, site: FederatedSite): Promise<void> {
  await daemons.get(site)?.kill()
  daemons.set(site, await site.start())
}

async function readFeed(): Promise<FeedEntry[]> {
  return ((await hub.runJson(['hub', 'feed', '--limit', '1000'])) as { items: FeedEntry[] }).items
}

test('both sites join as mission service nodes, with what they offer', async () => {
  const nodes = await waitUntil(async () => {
    const { items } = (await hub.runJson(['hub', 'nodes'])) as { items: { capability?: object }[] }
    return items.length === 2 && items.every(({ capability }) => capability) && items
  })
  expect(nodes).toMatchObject(
    ['alpha', 'bravo'].map((name) => ({
      ...{ id: name, kind: 'mission_service', site: name, node_tenant_id: name, state: 'present' },
      capability: {
        message: { hosts: ['consensus_session'], accepts: [{ type: 'opinion', lens_id: 'vessel-identity' }] },
      },
    })),
  )
})

test('a session is ratified over the hub, its evidence known to both, and the feed tells of it once', async ({
  pair,
}) => {
  const { atAlpha, atBravo } = pair
  const id = await openInvitedSession(atAlpha, 0.94)
  await waitForState(atBravo, id, 'PROPOSED')
  await contributeOpinion(atBravo, id, 'bob', 0.92)
  const ratified = await waitForState(atAlpha, id, 'RATIFIED')
  await waitForState(atBravo, id, 'RATIFIED')
  await waitUntilDelivered(atAlpha, id)
  const { items } = await atAlpha.ok(recordOf, { id })
  expect(items.find(({ federation }) => federation)?.federation).toMatchObject({
    transport: 'coalition',
    peer: 'bravo',
  })
  const entries = (await readFeed()).filter(({ session_id }) => session_id === id)
  expect(entries).toMatchObject([{ state: 'RATIFIED', node: 'alpha', lens_id: 'vessel-identity' }])
  // No record, no score: a feed entry is these fields, whatever the session holds.
  const fields = ['at', 'event_id', 'lens_id', 'node', 'published_at', 'seq', 'session_id', 'state']
  expect(entries.map((entry) => Object.keys(entry).sort())).toEqual([fields])
  expect([entries[0]?.event_id.includes('vessel/a'), ratified.undeliverable]).toEqual([false, []])
  const { exit, stdout } = await hub.run(['hub', 'feed', '--node', 'alpha'])
  expect([exit, stdout.split('\n')[1]]).toEqual([0, expect.stringMatching(new RegExp(`^\\d+ +alpha +RATIFIED +${id}`))])
})

test('never sends a session above its readers, and leaves nothing pending', async ({ pair }) => {
  const { atAlpha } = pair
  const classification = { level: 'CONFIDENTIAL', releasable_to: ['alpha', 'bravo'] }
  const input = { lens_id: 'secret-lens', lens_version: '1', policy: { m: 1, n: 1 }, classification }
  const { id } = await atAlpha.ok(create, input)
  const opinion = { contributor_id: 'alice', pair_score: 0.95, accuracy: 0.95, credibility: 0.9 }
  await atAlpha.ok(contribute, { id, ...opinion, signer_key_id: 'alice-1', classification })
  expect(await waitUntilDelivered(atAlpha, id)).toMatchObject({ state: 'RATIFIED', undeliverable: [] })
  expect((await readFeed()).filter(({ session_id }) => session_id === id)).toEqual([])
})

const session_count = 24
const lane_count = 3

/** Repeats the same request to a site that does not answer. */
function retryUnanswered<T>(act: () => Promise<T>): Promise<T> {
  return waitUntil(() =>
    act().catch((error: unknown) => {
      if (!(error instanceof TypeError)) throw error
      return undefined
    }),
  )
}

async function runLane(pair: PackagedSitePair, lane: number, ids: string[]): Promise<void> {
  const { atAlpha, atBravo } = pair
  const input = {
    lens_id: 'l',
    lens_version: '1',
    policy: { m: 2, n: 2 },
    classification: sharedClassification,
    invite: ['bravo'],
  }
  const opinion = { accuracy: 0.95, credibility: 0.9, classification: sharedClassification }
  for (let each = lane; each < session_count; each += lane_count) {
    const key = { 'idempotency-key': `question-${each}-of-this-test` }
    const { id } = await retryUnanswered(() => atAlpha.ok(create, input, key))
    const alice = { id, contributor_id: 'alice', signer_key_id: 'alice-1', pair_score: 0.94, ...opinion }
    await retryUnanswered(() => atAlpha.ok(contribute, alice, key))
    ids.push(id)
    await waitUntil(() => findSession(atBravo, id).catch(() => undefined))
    const bob = { id, contributor_id: 'bob', signer_key_id: 'bob-1', pair_score: 0.92, ...opinion }
    await retryUnanswered(() => atBravo.ok(contribute, bob, key))
  }
}

test('hub and nodes killed under load: every session ratified at both, each contribution once, each feed entry once', async ({
  pair,
}) => {
  const ids: string[] = []
  const working = Promise.all([...Array(lane_count).keys()].map((lane) => runLane(pair, lane, ids)))
  for (const [count, victim] of [
    [3, hub],
    [8, pair.bravo],
    [13, hub],
    [18, pair.alpha],
  ] as const) {
    await waitUntil(() => ids.length >= count)
    await killDaemon(pair, victim)
  }
  await working
  for (const id of ids) {
    await waitUntil(async () => (await findSession(pair.atAlpha, id).catch(() => undefined))?.state === 'RATIFIED')
    await waitForState(pair.atBravo, id, 'RATIFIED')
    expect(await waitUntilDelivered(pair.atAlpha, id)).toMatchObject({ contributions: 2, undeliverable: [] })
  }
  expect([ids.length, new Set(ids).size]).toEqual([session_count, session_count])
  const entries = (await readFeed()).filter(({ session_id }) => ids.includes(session_id))
  expect(entries.map(({ session_id }) => session_id).sort()).toEqual(ids.toSorted())
  const numbers = (await readFeed()).map(({ seq }) => seq)
  expect(numbers).toEqual(Array.from({ length: numbers.length }, (_, index) => numbers.length - index))
  for (const road of [pair.toBravo, pair.toAlpha]) expect(listQuarantined(road)).toEqual([])
  for (const [person, peer] of [
    [pair.atAlpha, 'bravo'],
    [pair.atBravo, 'alpha'],
  ] as const) {
    expect(await findChannel(person, peer, 'in')).toMatchObject({ gaps: 0, quarantined: 0, state: 'open' })
  }
})
