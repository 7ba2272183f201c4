// A peer is removed by a command while the site's process has messages for it in hand: the answer waits until they are let go of.
import { afterEach, expect, test } from 'vitest'
import { peerFiles } from '../../adapters/peers/files/peer-files.ts'
import { remove } from '../../daemon/boot/offline/site-peers.ts'
import { holdPeer } from '../../daemon/boot/patient-lock.ts'
import { peerSite } from '../roles/consensus/peer-messages.ts'
import { type SiteWorld, stoppedWorld, until } from '../support/site-world.ts'

let world: SiteWorld
afterEach(() => world.end())

test('the pin is gone at once, the answer comes when nothing is in hand any more, and then nothing is held', async () => {
  const bravo = await peerSite('bravo', 'tenant-b')
  world = await stoppedWorld({ peers: [bravo.pinned] })
  const inHand = await holdPeer(world.folder, 'bravo')
  let hasAnswered = false
  const removed = remove(world.folder, {}, 'bravo').then(() => {
    hasAnswered = true
  })
  const files = peerFiles(world.folder.peers)
  await until(async () => (await files.get('bravo')) === undefined)
  const other = await holdPeer(world.folder, 'charlie')
  other.release()
  expect(hasAnswered).toBe(false)
  inHand.release()
  await removed
  const again = await holdPeer(world.folder, 'bravo')
  again.release()
  await bravo.remove()
})
