// Three daemons, one of them a hub: two sites decide together with no courier, whichever of the three is killed meanwhile.
import * as fs from 'node:fs'
import path from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { parse, stringify } from 'yaml'
import { list as recordOf } from '../../daemon/roles/consensus/contribution/list.ts'
import { contribute } from '../../daemon/roles/consensus/session/contribute.ts'
import { create } from '../../daemon/roles/consensus/session/create.ts'
import { freePorts } from '../support/engines/server-process.ts'
import type { Daemon, PackagedSite } from '../support/packaged-sites.ts'
import { until } from '../support/site-world.ts'
import { quarantined } from './courier.ts'
import { ask, channelOf, delivered, inState, say, seen, shared, type Two, twoSites } from './question.ts'

let two: Two
let hub: PackagedSite
const daemons = new Map<PackagedSite, Daemon>()

beforeAll(async () => {
  two = await twoSites('hub')
  const found = two.world.sites.hub
  if (!found) throw new Error('three sites were made')
  hub = found
  const [at_site = 0, at_hub = 0] = await freePorts(2)
  const secret_file = path.join(two.world.dir, 'node.secret')
  fs.writeFileSync(secret_file, 'a-secret-of-this-test-alone\n', { mode: 0o600 })
  const names = ['alpha', 'bravo']
  edit(hub, {
    platform: { roles: ['site', 'hub'] },
    site: { port: at_site },
    hub: { port: at_hub, nodes: Object.fromEntries(names.map((name) => [name, { subject: `node:${name}` }])) },
    identity: {
      clients: names.map((name) => ({ client_id: name, secret_file, subject: `node:${name}`, roles: ['node'] })),
    },
  })
  for (const [site, peer] of [
    [two.alpha, 'bravo'],
    [two.bravo, 'alpha'],
  ] as const) {
    edit(site, {
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
  // The hub last: nodes must not mind that it is not there yet.
  for (const site of [two.alpha, two.bravo, hub]) daemons.set(site, await site.start())
})
afterAll(() => two?.world.end())

function edit({ dir }: PackagedSite, sections: Readonly<Record<string, Readonly<Record<string, unknown>>>>): void {
  const file = path.join(dir, 'profile.yaml')
  const profile = parse(fs.readFileSync(file, 'utf8')) as Record<string, Record<string, unknown>>
  for (const [name, fields] of Object.entries(sections)) profile[name] = { ...profile[name], ...fields }
  fs.writeFileSync(file, stringify(profile, { aliasDuplicateObjects: false }))
}

async function killed(site: PackagedSite): Promise<void> {
  await daemons.get(site)?.kill()
  daemons.set(site, await site.start())
}

type Told = { readonly session_id: string; readonly state: string; readonly seq: number; readonly node: string }

async function feed(): Promise<Told[]> {
  return ((await hub.answered(['hub', 'feed', '--limit', '1000'])) as { items: Told[] }).items
}

test('both sites join as mission service nodes, with what they offer', async () => {
  const nodes = await until(async () => {
    const { items } = (await hub.answered(['hub', 'nodes'])) as { items: { capability?: object }[] }
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

test('a session is ratified over the hub, its evidence known to both, and the feed tells of it once', async () => {
  const { atAlpha, atBravo } = two
  const id = await ask(atAlpha, 0.94)
  await inState(atBravo, id, 'PROPOSED')
  await say(atBravo, id, 'bob', 0.92)
  const ratified = await inState(atAlpha, id, 'RATIFIED')
  await inState(atBravo, id, 'RATIFIED')
  await delivered(atAlpha, id)
  const { items } = await atAlpha.ok(recordOf, { id })
  expect(items.find(({ federation }) => federation)?.federation).toMatchObject({
    transport: 'coalition',
    peer: 'bravo',
  })
  const told = (await feed()).filter(({ session_id }) => session_id === id)
  expect(told).toMatchObject([{ state: 'RATIFIED', node: 'alpha', lens_id: 'vessel-identity' }])
  const text = JSON.stringify(told)
  expect([text.includes('vessel/a'), text.includes('0.9'), ratified.undeliverable]).toEqual([false, false, []])
  const { exit, stdout } = await hub.platform(['hub', 'feed', '--node', 'alpha'])
  expect([exit, stdout.split('\n')[1]]).toEqual([0, expect.stringMatching(new RegExp(`^\\d+ +alpha +RATIFIED +${id}`))])
})

test('what its readers may not see is never told, and owed to nobody', async () => {
  const { atAlpha } = two
  const classification = { level: 'CONFIDENTIAL', releasable_to: ['alpha', 'bravo'] }
  const asked = { lens_id: 'secret-lens', lens_version: '1', policy: { m: 1, n: 1 }, classification }
  const { id } = await atAlpha.ok(create, asked)
  const opinion = { contributor_id: 'alice', pair_score: 0.95, accuracy: 0.95, credibility: 0.9 }
  await atAlpha.ok(contribute, { id, ...opinion, signer_key_id: 'alice-1', classification })
  expect(await delivered(atAlpha, id)).toMatchObject({ state: 'RATIFIED', undeliverable: [] })
  expect((await feed()).filter(({ session_id }) => session_id === id)).toEqual([])
})

const questions = 24
const lanes = 3

/** Whoever finds nobody at home asks again, in the same words. */
function stubbornly<T>(act: () => Promise<T>): Promise<T> {
  return until(() =>
    act().catch((error: unknown) => {
      if (!(error instanceof TypeError)) throw error
      return undefined
    }),
  )
}

async function asking(lane: number, ids: string[]): Promise<void> {
  const { atAlpha, atBravo } = two
  const asked = { lens_id: 'l', lens_version: '1', policy: { m: 2, n: 2 }, classification: shared, invite: ['bravo'] }
  const opinion = { accuracy: 0.95, credibility: 0.9, classification: shared }
  for (let each = lane; each < questions; each += lanes) {
    const key = { 'idempotency-key': `question-${each}-of-this-test` }
    const { id } = await stubbornly(() => atAlpha.ok(create, asked, key))
    const alice = { id, contributor_id: 'alice', signer_key_id: 'alice-1', pair_score: 0.94, ...opinion }
    await stubbornly(() => atAlpha.ok(contribute, alice, key))
    ids.push(id)
    await until(() => seen(atBravo, id).catch(() => undefined))
    const bob = { id, contributor_id: 'bob', signer_key_id: 'bob-1', pair_score: 0.92, ...opinion }
    await stubbornly(() => atBravo.ok(contribute, bob, key))
  }
}

test('hub and nodes killed under load: every session ratified at both, each voice once, each told once', async () => {
  const ids: string[] = []
  const working = Promise.all([...Array(lanes).keys()].map((lane) => asking(lane, ids)))
  for (const [count, victim] of [
    [3, hub],
    [8, two.bravo],
    [13, hub],
    [18, two.alpha],
  ] as const) {
    await until(() => ids.length >= count)
    await killed(victim)
  }
  await working
  for (const id of ids) {
    await until(async () => (await seen(two.atAlpha, id).catch(() => undefined))?.state === 'RATIFIED')
    await inState(two.atBravo, id, 'RATIFIED')
    expect(await delivered(two.atAlpha, id)).toMatchObject({ contributions: 2, undeliverable: [] })
  }
  expect([ids.length, new Set(ids).size]).toEqual([questions, questions])
  const told = (await feed()).filter(({ session_id }) => ids.includes(session_id))
  expect(told.map(({ session_id }) => session_id).sort()).toEqual(ids.toSorted())
  const numbers = (await feed()).map(({ seq }) => seq)
  expect(numbers).toEqual(Array.from({ length: numbers.length }, (_, index) => numbers.length - index))
  for (const road of [two.there, two.back]) expect(quarantined(road)).toEqual([])
  for (const [person, peer] of [
    [two.atAlpha, 'bravo'],
    [two.atBravo, 'alpha'],
  ] as const) {
    expect(await channelOf(person, peer, 'in')).toMatchObject({ gaps: 0, quarantined: 0, state: 'open' })
  }
})
