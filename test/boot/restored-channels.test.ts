// A restore and its channels: nothing is sent before the next epoch, and a channel frozen since the backup stays frozen.
import path from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { sqliteJournal } from '../../adapters/store/sqlite/journal/journal.ts'
import type { Journal, JournalChannel } from '../../daemon/kernel/messaging/journal.ts'
import { listRolesWithDatabase, withDatabase } from '../../daemon/offline/store/role-database.ts'
import { createPeerSite } from '../roles/consensus/peer-site.ts'
import { runJsonCommand } from '../support/command/run-command.ts'
import { createTestSite, type TestSite } from '../support/site/test-site.ts'

const peers = [await createPeerSite('bravo', 'tenant-b'), await createPeerSite('charlie', 'tenant-c')]
let world: TestSite
beforeAll(async () => {
  world = await createTestSite({ peers: peers.map(({ pinned }) => pinned) })
})
afterAll(async () => {
  await world.end()
  for (const peer of peers) peer.remove()
})

function withJournal<T>(use: (journal: Journal) => Promise<T>): Promise<T> {
  const role = listRolesWithDatabase(world.folder).find(({ name }) => name === 'site')
  if (!role) throw new Error('the site role has a database')
  return withDatabase(world.folder, role, ({ sqlite, audit }) => use(sqliteJournal(sqlite, audit)))
}

const statesOf = (channels: readonly JournalChannel[]) =>
  Object.fromEntries(channels.map(({ direction, peer, state, detail }) => [`${direction} ${peer}`, [state, detail]]))

test('outgoing ones wait for an epoch, an incoming one that was frozen since keeps its reason, the others are open', async () => {
  const site = path.dirname(world.folder.profile)
  const backup = path.join(site, 'copy')
  await runJsonCommand(['store', 'backup', backup, '--site', site])
  const [first] = (await withJournal((journal) => journal.channels())).filter(
    ({ peer, direction }) => peer === 'bravo' && direction === 'in',
  )
  await withJournal((journal) => journal.setState(first?.channel ?? '', 'frozen', 'two messages under number 7'))
  expect(await runJsonCommand(['store', 'restore', backup, '--yes', '--site', site])).toMatchObject({ purged_again: 0 })
  expect(statesOf(await withJournal((journal) => journal.channels()))).toEqual({
    'in bravo': ['frozen', 'two messages under number 7'],
    'in charlie': ['open', ''],
    'out bravo': ['frozen', expect.stringContaining('platform filedrop epoch bravo')],
    'out charlie': ['frozen', expect.stringContaining('platform filedrop epoch charlie')],
  })
})
