// The coalition's feed gets each ratification and withdrawal once, also when the hub is unavailable in between.
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { parseWithSchema } from '../../../daemon/kernel/error/parsing.ts'
import { cancel } from '../../../daemon/roles/consensus/session/cancel.ts'
import { contribute } from '../../../daemon/roles/consensus/session/contribute.ts'
import { create } from '../../../daemon/roles/consensus/session/create.ts'
import { get } from '../../../daemon/roles/consensus/session/get.ts'
import { settings } from '../../../daemon/roles/consensus/settings.ts'
import { feedEntry } from '../../../daemon/shared/coalition/hub-protocol.ts'
import { type TestSite, waitUntil } from '../../support/site/test-site.ts'
import { startTamperingHub, type TamperingHub } from '../../transport/coalition/tampering-hub.ts'
import { startTestHub, type TestHub } from '../../transport/coalition/test-hub.ts'
import {
  buildOpinionInput,
  buildSessionInput,
  createOperator,
  startConsensusSite,
  waitUntilDelivered,
} from './consensus-site.ts'

let hub: TestHub
let tamperingHub: TamperingHub
let world: TestSite
beforeAll(async () => {
  hub = await startTestHub()
  tamperingHub = await startTamperingHub(hub.endpoint)
  const coalition = { ...tamperingHub.endpoint('alpha'), feed_level: 'RESTRICTED', feed_audience: ['COALITION'] }
  world = await startConsensusSite({ contributors: ['c1'], profile: { coalition } })
})
afterAll(async () => {
  await world?.end()
  await tamperingHub?.close()
  await hub?.close()
})

const openClassification = { level: 'RESTRICTED', releasable_to: ['tenant-a', 'COALITION'] }

async function ratifySession(classification: typeof openClassification): Promise<string> {
  const person = await createOperator(world)
  const { id } = await person.ok(create, { ...buildSessionInput({ m: 1, n: 1 }), classification })
  await person.ok(contribute, { id, ...buildOpinionInput('c1', 0.9), classification })
  return id
}

async function readFeedEntries(id: string) {
  const token = await hub.site.token({ sub: 'ann', roles: ['auditor'] })
  const { json } = await hub.site.request('hub', { method: 'GET', path: '/api/v2/hub/feed?limit=500', token })
  const items = (json as { items: unknown[] }).items.map((item) => feedEntry.parse(item))
  return items.filter(({ session_id }) => session_id === id)
}

test('a ratification that the hub refused stays pending until it accepts, and is sent once; a withdrawal follows', async () => {
  const person = await createOperator(world)
  let asks = 0
  tamperingHub.tampering.respond = (method, at) => {
    if (method !== 'POST' || !at.endsWith('/feed')) return undefined
    asks += 1
    return { status: 503, text: '' }
  }
  const id = await ratifySession(openClassification)
  await waitUntil(() => asks > 0)
  expect(await person.ok(get, { id })).toMatchObject({ state: 'RATIFIED', undelivered: 1 })
  expect(await readFeedEntries(id)).toEqual([])
  await world.restart()
  delete tamperingHub.tampering.respond
  await waitUntil(async () => {
    world.wakeWorker('consensus', 'relay')
    return (await person.ok(get, { id })).undelivered === 0
  })
  await person.ok(cancel, { id })
  expect(await waitUntilDelivered(person, id)).toMatchObject({ undeliverable: [] })
  const [withdrawn, first, ...more] = await readFeedEntries(id)
  expect([withdrawn?.state, first?.state, more]).toEqual(['WITHDRAWN', 'RATIFIED', []])
  expect(Object.keys(first ?? {}).sort()).toEqual([
    ...['at', 'event_id', 'lens_id', 'node', 'published_at', 'seq', 'session_id', 'state'],
  ])
})

test.each([
  ['above the level of the feed', { level: 'SECRET', releasable_to: ['tenant-a', 'COALITION'] }],
  ['not releasable to its readers', { level: 'RESTRICTED', releasable_to: ['tenant-a'] }],
  ['with a category', { ...openClassification, categories: ['NOVA'] }],
])('a session %s sends nothing to a feed, and nothing stays pending', async (_, classification) => {
  const cleared = { level: 'SECRET', categories: ['NOVA'] }
  const person = await world.as({ subject: 'olga', roles: ['operator'], clearance: cleared })
  const { id } = await person.ok(create, { ...buildSessionInput({ m: 1, n: 1 }), classification })
  await person.ok(contribute, { id, ...buildOpinionInput('c1', 0.9), classification })
  expect(await waitUntilDelivered(person, id)).toMatchObject({ state: 'RATIFIED', undeliverable: [] })
  expect(await readFeedEntries(id)).toEqual([])
})

test('a request to the site role to send more than the label allows is refused with the reason', async () => {
  const { token } = await world.as({ roles: ['admin'] })
  const label = { policy: 'SITE', level: 'SECRET', categories: [], originator: 'tenant-a' }
  const event = { event_id: 'e', session_id: 'ses_x', lens_id: 'l', state: 'RATIFIED', at: '2026-03-01T12:00:00.000Z' }
  const { json } = await world.call('site', 'POST', '/api/v2/site/coalition/event', { ...event, label }, { token })
  expect(json).toMatchObject({ published: false })
  expect(await readFeedEntries('ses_x')).toEqual([])
})

test('no sink may take the name of the feed', () => {
  const secret_file = path.join(tmpdir(), 'nobody')
  const sinks = [{ name: 'coalition', kind: 'webhook', url: 'http://127.0.0.1:9', secret_file }]
  expect(parseWithSchema(settings.schema, { sinks }).success).toBe(false)
})
