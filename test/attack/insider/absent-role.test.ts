// A peer that sends what a role takes that the site does not run: everything else flows on, and nothing is lost.
import { afterAll, beforeAll, expect, test } from 'vitest'
import { waitUntil } from '../../support/site/test-site.ts'
import { type AttackedSite, startAttackedSite } from './attacked-site.ts'
import { buildInvitation, buildOpinion, nextSessionId } from './insider-attack.ts'
import type { InsiderPeer } from './insider-peer.ts'

let world: AttackedSite
let peer: InsiderPeer
beforeAll(async () => {
  world = await startAttackedSite(['bravo'], { platform: { roles: ['site', 'consensus'] } })
  peer = world.peer('bravo')
})
afterAll(() => world?.end())

const signal = {
  ...{ event_id: 'ev-1', signal_type: 'watchlist_hit', severity: 'high', title: 'Aurora seen at anchor' },
  ...{ subject: { type: 'asset', id: 'ship-1', name: 'Aurora' }, source: { type: 'computed', name: 'detector' } },
  detected_at: '2026-03-02T11:00:00.000Z',
}

test('messages of other kinds are applied, commuting and ordered ones', async () => {
  const session = await world.openSession(peer)
  await peer.send('signal', signal)
  await peer.send('resolution', { say: 'please' })
  const followed = nextSessionId()
  await peer.send('invitation', buildInvitation(peer, followed))
  const { envelope } = await peer.send('contribution', buildOpinion({ peer }, session))
  const { msg_id } = JSON.parse(Buffer.from(envelope.payload, 'base64url').toString('utf8'))
  await waitUntil(async () => (await world.listContributionIds(session)).includes(msg_id))
  await waitUntil(() => world.readSession(followed).then(Boolean, () => false))
  expect(await world.readChannel(peer)).toMatchObject({ state: 'open', gaps: 0 })
  expect(world.listReasons(peer)).toEqual([])
})
