// Whether each peer's channel folders are the ones made at enrolment, and what lies in them unread.
import { folderFault, foldersOf } from '../../../../adapters/transport/filedrop/layout.ts'
import { stockOf } from '../../../../adapters/transport/filedrop/quarantine/quarantine.ts'
import { filedropSettings } from '../../../roles/site/settings.ts'
import { valuesOf } from '../../profile.ts'
import type { Examined } from '../examination.ts'
import { type Finding, fine, problem, warning } from '../finding.ts'
import { list } from '../site-peers.ts'
import { siteSettings } from '../site-profile.ts'

export async function channelFindings({ folder, env }: Examined): Promise<Finding[]> {
  const { platform, resolved } = siteSettings(folder, env)
  const { quarantine_max_bytes } = valuesOf(resolved, filedropSettings)
  const peers = await list(folder)
  if (peers.length === 0) return [fine('channels', 'no peer is pinned')]
  return peers.flatMap(({ name }) => {
    const folders = foldersOf(folder.filedrop, name)
    const fault = folderFault(folders, platform.name, name)
    if (fault !== undefined) return [problem('channels', `${name}: ${fault}`, `look at ${folders.home}`)]
    return [
      fine('channels', `${name}: folders are as enrolled`),
      ...quarantined(name, folders.quarantine, quarantine_max_bytes),
    ]
  })
}

/** Part of what the quarantine may take, from which on people are told: releases and purges need two of them. */
const nearly_full = 0.8

function quarantined(name: string, dir: string, max_bytes: number): Finding[] {
  const { items, bytes } = stockOf(dir)
  const look = `platform filedrop quarantine list --peer ${name}`
  const part = `${Math.floor((bytes / max_bytes) * 100)} % of filedrop.quarantine_max_bytes`
  if (bytes >= max_bytes) {
    const detail = `${name}: the quarantine is full (${part}), and nothing is taken in`
    return [problem('channels', detail, `release or purge what lies there: ${look}`)]
  }
  if (bytes >= max_bytes * nearly_full) {
    const detail = `${name}: the quarantine is nearly full (${part}); then nothing is taken in`
    return [warning('channels', detail, `release or purge what lies there: ${look}`)]
  }
  return items === 0 ? [] : [warning('channels', `${name}: ${items} messages in quarantine`, look)]
}
