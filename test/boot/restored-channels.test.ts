// What a restore does to channels: nothing goes out before the next epoch, and what was frozen since the backup stays so.
import path from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { sqliteJournal } from '../../adapters/store/sqlite/journal.ts'
import { rolesWithDatabase, withDatabase } from '../../daemon/boot/offline/role-database.ts'
import type { Channel, Journal } from '../../daemon/kernel/journal.ts'
import { peerSite } from '../roles/consensus/peer-messages.ts'
import { answered } from '../support/command-line.ts'
import { type SiteWorld, stoppedWorld } from '../support/site-world.ts'

const peers = [await peerSite('bravo', 'tenant-b'), await peerSite('charlie', 'tenant-c')]
let world: SiteWorld
beforeAll(async () => {
  world = await stoppedWorld({ peers: peers.map(({ pinned }) => pinned) })
})
afterAll(async () => {
  await world.end()
  for (const peer of peers) peer.remove()
})

function inJournal<T>(use: (journal: Journal) => Promise<T>): Promise<T> {
  const role = rolesWithDatabase(world.folder).find(({ name }) => name === 'site')
  if (!role) throw new Error('the site role has a database')
  return withDatabase(world.folder, role, ({ sqlite, audit }) => use(sqliteJournal(sqlite, audit)))
}

const statesOf = (channels: readonly Channel[]) =>
  Object.fromEntries(channels.map(({ direction, peer, state, detail }) => [`${direction} ${peer}`, [state, detail]]))

test('outgoing ones wait for an epoch, an incoming one that was frozen since keeps its reason, the others are open', async () => {
  const site = path.dirname(world.folder.profile)
  const backup = path.join(site, 'copy')
  await answered(['store', 'backup', backup, '--site', site])
  const [first] = (await inJournal((journal) => journal.channels())).filter(
    ({ peer, direction }) => peer === 'bravo' && direction === 'in',
  )
  await inJournal((journal) => journal.setState(first?.channel ?? '', 'frozen', 'two messages under number 7'))
  expect(await answered(['store', 'restore', backup, '--yes', '--site', site])).toMatchObject({ purged_again: 0 })
  expect(statesOf(await inJournal((journal) => journal.channels()))).toEqual({
    'in bravo': ['frozen', 'two messages under number 7'],
    'in charlie': ['open', ''],
    'out bravo': ['frozen', expect.stringContaining('platform filedrop epoch bravo')],
    'out charlie': ['frozen', expect.stringContaining('platform filedrop epoch charlie')],
  })
})
