// Whether the kernel lets the carrier watch its folders: without, messages are found by the rescans alone, and later.
import * as fs from 'node:fs'
import { foldersOf } from '../../../../adapters/transport/filedrop/layout.ts'
import type { SiteFolder } from '../../site-folder.ts'
import type { Examined } from '../examination.ts'
import { type Finding, fine, warning } from '../finding.ts'
import { list } from '../site-peers.ts'

/** Each file in a watched folder has a watch of its own; this many come at once on a quiet channel. */
const spare_watches = 1_024
const least_instances = 16

export async function watcherFindings({ folder }: Examined): Promise<Finding[]> {
  const watches = limitOf('max_user_watches')
  const instances = limitOf('max_user_instances')
  // Not Linux: there is no such limit.
  if (watches === undefined || instances === undefined) return []
  const needed = spare_watches + (await watched(folder))
  const found = [
    ...(watches < needed ? [tooLow('max_user_watches', watches, Math.max(needed, 524_288))] : []),
    ...(instances < least_instances ? [tooLow('max_user_instances', instances, 128)] : []),
  ]
  return found.length > 0 ? found : [fine('watchers', `${watches} watches, ${needed} needed`)]
}

function tooLow(name: string, is: number, wanted: number): Finding {
  return warning(
    'watchers',
    `fs.inotify.${name} is ${is}: messages are found by the rescans alone`,
    `sysctl -w fs.inotify.${name}=${wanted}, and a line for it in /etc/sysctl.d`,
  )
}

function limitOf(name: string): number | undefined {
  const file = `/proc/sys/fs/inotify/${name}`
  return fs.existsSync(file) ? Number(fs.readFileSync(file, 'utf8')) : undefined
}

async function watched(folder: SiteFolder): Promise<number> {
  const folders = (await list(folder)).flatMap(({ name }) => {
    const { fresh, ready } = foldersOf(folder.filedrop, name)
    return [fresh, ready]
  })
  return folders.reduce((sum, each) => sum + 1 + (fs.existsSync(each) ? fs.readdirSync(each).length : 0), 0)
}
