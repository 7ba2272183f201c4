// Makes the folders of a newly pinned peer, once: what is lost later was lost, and is not made again as if nothing were.
import { refuse } from '../../../daemon/kernel/errors.ts'
import type { Channel, Direction, Journal } from '../../../daemon/kernel/journal.ts'
import type { Peer } from '../../../daemon/kernel/peer.ts'
import { channelName, folderFault, foldersOf, hasChannelFile, makeFolders } from './layout.ts'

export type Enrolling = {
  readonly site: string
  readonly root: string
  readonly journal: Pick<Journal, 'introduce' | 'setState'>
}

/**
 * Folders, CHANNEL.json and both channels in the journal; repeated after a crash it goes on where it was, and for an
 * enrolled peer it changes nothing. Throws `Refused('conflict')` when either side remembers a channel that the other
 * has lost.
 */
export async function enrolChannel(peer: Pick<Peer, 'name' | 'enrolled'>, given: Enrolling): Promise<void> {
  const { site, root, journal } = given
  const folders = foldersOf(root, peer.name)
  const names: Record<Direction, string> = { out: channelName(site, peer.name), in: channelName(peer.name, site) }
  const channels: Channel[] = []
  for (const direction of ['out', 'in'] as const) {
    channels.push(await journal.introduce({ channel: names[direction], peer: peer.name, direction, epoch: 1 }))
  }
  if (channels.every(({ state }) => state !== 'enrolling')) {
    const lost = folderFault(folders, site, peer.name)
    if (lost !== undefined) throw refuse('conflict', lost)
    return
  }
  if (!hasChannelFile(folders)) makeFolders(folders, { site, peer: peer.name, enrolled: peer.enrolled })
  const lost = folderFault(folders, site, peer.name)
  if (lost !== undefined) throw refuse('conflict', lost)
  for (const { channel, state } of channels) if (state === 'enrolling') await journal.setState(channel, 'open', '')
}
