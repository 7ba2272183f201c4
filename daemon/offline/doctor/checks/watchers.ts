// Checks that the kernel lets the carrier watch its folders. Without watches, only rescans find messages, later.
import * as fs from 'node:fs'
import { foldersOf } from '../../../../adapters/transport/filedrop/files/channel-folders.ts'
import type { SiteFolder } from '../../../boot/storage/site-folder.ts'
import { listPeers } from '../../peers/site-peers.ts'
import type { DoctorContext } from '../examine-site.ts'
import { type DoctorFinding, reportOk, reportWarning } from '../finding.ts'

/** Each file in a watched folder has its own watch; this many may arrive at once on a quiet channel. */
const spare_watch_count = 1_024
const min_instances = 16

export async function checkWatchers({ folder }: DoctorContext): Promise<DoctorFinding[]> {
  const watches = readInotifyLimit('max_user_watches')
  const instances = readInotifyLimit('max_user_instances')
  // Not Linux: there is no such limit.
  if (watches === undefined || instances === undefined) return []
  const needed_count = spare_watch_count + (await countWatchedFiles(folder))
  const findings = [
    ...(watches < needed_count ? [reportLowLimit('max_user_watches', watches, Math.max(needed_count, 524_288))] : []),
    ...(instances < min_instances ? [reportLowLimit('max_user_instances', instances, 128)] : []),
  ]
  return findings.length > 0 ? findings : [reportOk('watchers', `${watches} watches, ${needed_count} needed`)]
}

function reportLowLimit(name: string, value: number, recommended: number): DoctorFinding {
  return reportWarning(
    'watchers.limit_low',
    `fs.inotify.${name} is ${value}: only rescans find messages`,
    `sysctl -w fs.inotify.${name}=${recommended}, and a line for it in /etc/sysctl.d`,
  )
}

function readInotifyLimit(name: string): number | undefined {
  const file = `/proc/sys/fs/inotify/${name}`
  return fs.existsSync(file) ? Number(fs.readFileSync(file, 'utf8')) : undefined
}

async function countWatchedFiles(folder: SiteFolder): Promise<number> {
  const folders = (await listPeers(folder)).flatMap(({ name }) => {
    const { fresh, ready } = foldersOf(folder.filedrop, name)
    return [fresh, ready]
  })
  return folders.reduce(
    (sum, folderPath) => sum + 1 + (fs.existsSync(folderPath) ? fs.readdirSync(folderPath).length : 0),
    0,
  )
}
