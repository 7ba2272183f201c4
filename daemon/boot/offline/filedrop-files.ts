// File-drop without a running daemon: channels made at enrolment, files read and judged where they lie.
import { existsSync } from 'node:fs'
import { foldersOf, hasChannelFile, makeFolders } from '../../../adapters/transport/filedrop/layout.ts'
import type { Peer } from '../../kernel/peer.ts'
import type { SiteFolder } from '../site-folder.ts'
import { type Environment, siteSettings } from './site-profile.ts'

/** Makes the peer's folders; those of an earlier enrolment are kept as they are, with their CHANNEL.json. */
export async function enrolChannels(folder: SiteFolder, env: Environment, peer: Peer): Promise<void> {
  const { platform } = siteSettings(folder, env)
  const folders = foldersOf(folder.filedrop, peer.name)
  if (existsSync(folders.home) && hasChannelFile(folders)) return
  makeFolders(folders, { site: platform.name, peer: peer.name, enrolled: peer.enrolled })
}
