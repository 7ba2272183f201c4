// A peer is removed by a command while the site's process has messages for it in hand: the answer waits until they are let go of.
import { afterEach, expect, test } from 'vitest'
import { peerFiles } from '../../adapters/peers/files/peer-files.ts'
import { lockPeer } from '../../daemon/boot/storage/wait-for-lock.ts'
import { removePeer } from '../../daemon/offline/peers/site-peers.ts'
import { createPeerSite } from '../roles/consensus/peer-site.ts'
import { createTestSite, type TestSite, waitUntil } from '../support/site/test-site.ts'

let world: TestSite
afterEach(() => world.end())

test('the pin is gone at once, the answer comes when nothing is in hand any more, and then nothing is held', async () => {
  const bravo = await createPeerSite('bravo', 'tenant-b')
  world = await createTestSite({ peers: [bravo.pinned] })
  const inHand = await lockPeer(world.folder, 'bravo')
  let hasAnswered = false
  const removed = removePeer(world.folder, {}, 'bravo').then(() => {
    hasAnswered = true
  })
  const files = peerFiles(world.folder.peers)
  await waitUntil(async () => (await files.get('bravo')) === undefined)
  const other = await lockPeer(world.folder, 'charlie')
  other.release()
  expect(hasAnswered).toBe(false)
  inHand.release()
  await removed
  const again = await lockPeer(world.folder, 'bravo')
  again.release()
  await bravo.remove()
})
