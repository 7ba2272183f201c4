// What the coalition's feed is told of a session: its ratification and withdrawal, once, however often the hub is not there.
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { feedEntry } from '../../../daemon/kernel/coalition.ts'
import { parseBy } from '../../../daemon/kernel/parsing.ts'
import { cancel } from '../../../daemon/roles/consensus/session/cancel.ts'
import { contribute } from '../../../daemon/roles/consensus/session/contribute.ts'
import { create } from '../../../daemon/roles/consensus/session/create.ts'
import { get } from '../../../daemon/roles/consensus/session/get.ts'
import { settings } from '../../../daemon/roles/consensus/settings.ts'
import { type SiteWorld, until } from '../../support/site-world.ts'
import { type LyingHub, lyingHub } from '../../transport/coalition/lying-hub.ts'
import { type ServedHub, servedHub } from '../../transport/coalition/served-hub.ts'
import { asked, consensusWorld, delivered, operatorOf, opinion } from './consensus-world.ts'

let hub: ServedHub
let between: LyingHub
let world: SiteWorld
beforeAll(async () => {
  hub = await servedHub()
  between = await lyingHub(hub.way)
  const coalition = { ...between.way('alpha'), feed_level: 'RESTRICTED', feed_audience: ['COALITION'] }
  world = await consensusWorld({ contributors: ['c1'], profile: { coalition } })
})
afterAll(async () => {
  await world?.end()
  await between?.close()
  await hub?.close()
})

const open = { level: 'RESTRICTED', releasable_to: ['tenant-a', 'COALITION'] }

async function ratified(classification: typeof open): Promise<string> {
  const person = await operatorOf(world)
  const { id } = await person.ok(create, { ...asked({ m: 1, n: 1 }), classification })
  await person.ok(contribute, { id, ...opinion('c1', 0.9), classification })
  return id
}

async function told(id: string) {
  const token = await hub.site.token({ sub: 'ann', roles: ['auditor'] })
  const { json } = await hub.site.ask('hub', { method: 'GET', path: '/api/v2/hub/feed?limit=500', token })
  const items = (json as { items: unknown[] }).items.map((item) => feedEntry.parse(item))
  return items.filter(({ session_id }) => session_id === id)
}

test('a ratification that the hub did not take is owed until it does, and told once; a withdrawal follows', async () => {
  const person = await operatorOf(world)
  let asks = 0
  between.lies.answers = (method, at) => {
    if (method !== 'POST' || !at.endsWith('/feed')) return undefined
    asks += 1
    return { status: 503, text: '' }
  }
  const id = await ratified(open)
  await until(() => asks > 0)
  expect(await person.ok(get, { id })).toMatchObject({ state: 'RATIFIED', undelivered: 1 })
  expect(await told(id)).toEqual([])
  await world.restart()
  delete between.lies.answers
  await until(async () => {
    world.wake('consensus', 'relay')
    return (await person.ok(get, { id })).undelivered === 0
  })
  await person.ok(cancel, { id })
  expect(await delivered(person, id)).toMatchObject({ undeliverable: [] })
  const [withdrawn, first, ...more] = await told(id)
  expect([withdrawn?.state, first?.state, more]).toEqual(['WITHDRAWN', 'RATIFIED', []])
  expect(Object.keys(first ?? {}).sort()).toEqual([
    ...['at', 'event_id', 'lens_id', 'node', 'published_at', 'seq', 'session_id', 'state'],
  ])
})

test.each([
  ['above the level of the feed', { level: 'SECRET', releasable_to: ['tenant-a', 'COALITION'] }],
  ['not releasable to its readers', { level: 'RESTRICTED', releasable_to: ['tenant-a'] }],
  ['with a category', { ...open, categories: ['NOVA'] }],
])('a session %s is owed to no feed, and nothing is told', async (_, classification) => {
  const cleared = { level: 'SECRET', categories: ['NOVA'] }
  const person = await world.as({ subject: 'olga', roles: ['operator'], clearance: cleared })
  const { id } = await person.ok(create, { ...asked({ m: 1, n: 1 }), classification })
  await person.ok(contribute, { id, ...opinion('c1', 0.9), classification })
  expect(await delivered(person, id)).toMatchObject({ state: 'RATIFIED', undeliverable: [] })
  expect(await told(id)).toEqual([])
})

test('whoever asks the site role to tell more than the label allows is told why not', async () => {
  const { token } = await world.as({ roles: ['admin'] })
  const label = { policy: 'SITE', level: 'SECRET', categories: [], originator: 'tenant-a' }
  const event = { event_id: 'e', session_id: 'ses_x', lens_id: 'l', state: 'RATIFIED', at: '2026-03-01T12:00:00.000Z' }
  const { json } = await world.call('site', 'POST', '/api/v2/site/coalition/event', { ...event, label }, { token })
  expect(json).toMatchObject({ told: false })
  expect(await told('ses_x')).toEqual([])
})

test('no sink may take the name of the feed', () => {
  const secret_file = path.join(tmpdir(), 'nobody')
  const sinks = [{ name: 'coalition', kind: 'webhook', url: 'http://127.0.0.1:9', secret_file }]
  expect(parseBy(settings.schema, { sinks }).success).toBe(false)
})
