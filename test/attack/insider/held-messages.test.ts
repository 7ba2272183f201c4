// A peer that leaves a gap and fills the place of those that wait: what found no place is missing, and taken when it comes again.
import { afterAll, beforeAll, expect, test } from 'vitest'
import { waitUntil } from '../../support/site/test-site.ts'
import { type AttackedSite, startAttackedSite } from './attacked-site.ts'
import { buildInvitation, nextSessionId } from './insider-attack.ts'
import type { InsiderMessage } from './insider-peer.ts'

let world: AttackedSite
beforeAll(async () => {
  world = await startAttackedSite(['bravo'], { filedrop: { max_held: 4 } })
})
afterAll(() => world?.end())

test('eight wait behind a gap where four may', async () => {
  const peer = world.peer('bravo')
  const sessions = Array.from({ length: 9 }, nextSessionId)
  const messages: InsiderMessage[] = []
  for (const id of sessions) messages.push(await peer.withhold('invitation', buildInvitation(peer, id)))
  const [first, ...others] = messages
  if (!first) throw new Error('nothing was signed')
  for (const message of others) peer.drop(message)
  await waitUntil(async () => (await world.readChannel(peer)).held >= 4)
  const isThere = (id: string) => world.readSession(id).then(Boolean, () => false)
  peer.drop(first)
  for (const id of sessions.slice(0, 5)) await waitUntil(() => isThere(id))
  for (const message of others) peer.drop(message)
  for (const id of sessions) await waitUntil(() => isThere(id))
  expect(await world.readChannel(peer)).toMatchObject({ state: 'open', gaps: 0, held: 0 })
})
