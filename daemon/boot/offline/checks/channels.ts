// Whether each peer's channel folders are the ones made at enrolment, and what lies in them unread.
import * as fs from 'node:fs'
import { folderFault, foldersOf } from '../../../../adapters/transport/filedrop/layout.ts'
import type { Examined } from '../examination.ts'
import { type Finding, fine, problem, warning } from '../finding.ts'
import { list } from '../site-peers.ts'
import { siteSettings } from '../site-profile.ts'

export async function channelFindings({ folder, env }: Examined): Promise<Finding[]> {
  const { platform } = siteSettings(folder, env)
  const peers = await list(folder)
  if (peers.length === 0) return [fine('channels', 'no peer is pinned')]
  return peers.flatMap(({ name }) => {
    const folders = foldersOf(folder.filedrop, name)
    const fault = folderFault(folders, platform.name, name)
    if (fault !== undefined) return [problem('channels', `${name}: ${fault}`, `look at ${folders.home}`)]
    return [fine('channels', `${name}: folders are as enrolled`), ...quarantined(name, folders.quarantine)]
  })
}

function quarantined(name: string, dir: string): Finding[] {
  const held = fs.readdirSync(dir).filter((file) => file.endsWith('.reason.json')).length
  if (held === 0) return []
  return [
    warning('channels', `${name}: ${held} messages in quarantine`, `platform filedrop quarantine list --peer ${name}`),
  ]
}
