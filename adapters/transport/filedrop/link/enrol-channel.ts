// Creates the folders of a newly pinned peer, once: folders that are lost later are reported, not created again.
import { refuse } from '../../../../daemon/kernel/error/errors.ts'
import type { Peer } from '../../../../daemon/kernel/identity/peer.ts'
import type { ChannelDirection, Journal, JournalChannel } from '../../../../daemon/kernel/messaging/journal.ts'
import { channelName, folderFault, foldersOf, hasChannelFile, makeFolders } from '../files/channel-folders.ts'

export type ChannelEnrolmentOptions = {
  readonly site: string
  readonly root: string
  readonly journal: Pick<Journal, 'registerChannel' | 'setState'>
}

/**
 * Folders, CHANNEL.json and both channels in the journal; repeated after a crash it goes on where it was, and for an
 * enrolled peer it changes nothing. Throws `Refusal('conflict')` when either side remembers a channel that the other
 * has lost.
 */
export async function enrolChannel(
  peer: Pick<Peer, 'name' | 'enrolled'>,
  options: ChannelEnrolmentOptions,
): Promise<void> {
  const { site, root, journal } = options
  const folders = foldersOf(root, peer.name)
  const names: Record<ChannelDirection, string> = {
    out: channelName(site, peer.name),
    in: channelName(peer.name, site),
  }
  const channels: JournalChannel[] = []
  for (const direction of ['out', 'in'] as const) {
    channels.push(await journal.registerChannel({ channel: names[direction], peer: peer.name, direction, epoch: 1 }))
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
