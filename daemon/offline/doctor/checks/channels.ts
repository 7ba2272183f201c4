// Checks that each peer's channel folders are those made at enrolment, and reports quarantined messages.
import { folderFault, foldersOf } from '../../../../adapters/transport/filedrop/files/channel-folders.ts'
import { measureQuarantine } from '../../../../adapters/transport/filedrop/quarantine/quarantine-files.ts'
import { listQuarantinePeers } from '../../../../adapters/transport/filedrop/quarantine/quarantine-list.ts'
import { getSettings } from '../../../kernel/settings/get-settings.ts'
import { filedropSettings } from '../../../roles/site/settings.ts'
import { listPeers } from '../../peers/site-peers.ts'
import { readSiteSettings } from '../../site/site-profile.ts'
import type { DoctorContext } from '../examine-site.ts'
import { type DoctorFinding, reportOk, reportProblem, reportWarning } from '../finding.ts'

export async function checkChannels({ folder, env }: DoctorContext): Promise<DoctorFinding[]> {
  const { platform, resolved } = readSiteSettings(folder, env)
  const { quarantine_max_bytes } = getSettings(resolved, filedropSettings)
  const peers = await listPeers(folder)
  const former = listQuarantinePeers(folder.filedrop).filter((name) => !peers.some((peer) => peer.name === name))
  const leftover = former.flatMap((name) => reportLeftover(name, foldersOf(folder.filedrop, name).quarantine))
  if (peers.length === 0) return [reportOk('channels', 'no peer is pinned'), ...leftover]
  const findings = peers.flatMap(({ name }) => {
    const folders = foldersOf(folder.filedrop, name)
    const fault = folderFault(folders, platform.name, name)
    if (fault !== undefined)
      return [
        reportProblem(
          'channels.folder_faulty',
          `${name}: ${fault}`,
          `compare ${folders.home} with the enrolment; platform peers show ${name} lists it`,
        ),
      ]
    return [
      reportOk('channels', `${name}: folders are as enrolled`),
      ...checkQuarantine(name, folders.quarantine, quarantine_max_bytes),
    ]
  })
  return [...findings, ...leftover]
}

/** Items of a peer that was removed: nothing can release them any more. */
function reportLeftover(name: string, dir: string): DoctorFinding[] {
  const { items } = measureQuarantine(dir)
  if (items === 0) return []
  const remedy = `platform filedrop quarantine list --peer ${name}; close each with platform filedrop quarantine dismiss ITEM --reason TEXT`
  return [
    reportWarning(
      'channels.leftover_quarantine',
      `${name}, which is no longer pinned: ${countItems(items)} in quarantine`,
      remedy,
    ),
  ]
}

function countItems(items: number): string {
  return items === 1 ? '1 item' : `${items} items`
}

/** Share of the quarantine quota that raises a warning, early because releases and purges need two people. */
const quarantine_warning_share = 0.8

function checkQuarantine(name: string, dir: string, max_bytes: number): DoctorFinding[] {
  const { items, bytes } = measureQuarantine(dir)
  const listCommand = `platform filedrop quarantine list --peer ${name}`
  const shareText = `${Math.floor((bytes / max_bytes) * 100)} % of filedrop.quarantine_max_bytes`
  if (bytes >= max_bytes) {
    const detail = `${name}: the quarantine is full (${shareText}); no message is imported`
    return [reportProblem('channels.quarantine_full', detail, `release, dismiss or purge its items: ${listCommand}`)]
  }
  if (bytes >= max_bytes * quarantine_warning_share) {
    const detail = `${name}: the quarantine is nearly full (${shareText}); once full, no message is imported`
    return [
      reportWarning('channels.quarantine_nearly_full', detail, `release, dismiss or purge its items: ${listCommand}`),
    ]
  }
  if (items === 0) return []
  const remedy = `${listCommand}; platform filedrop quarantine show ITEM names the next command for each`
  return [reportWarning('channels.quarantined', `${name}: ${countItems(items)} in quarantine`, remedy)]
}
