// Checks that the file systems of the site have room and accept writes, by writing a file, regardless of modes and
// mount options.
import { randomBytes } from 'node:crypto'
import * as fs from 'node:fs'
import { join } from 'node:path'
import { type ChannelFolders, foldersOf } from '../../../../adapters/transport/filedrop/files/channel-folders.ts'
import { runAsOwnerOf } from '../../../boot/host/act-as-owner.ts'
import { roleDataFolder, roleRunFolder } from '../../../boot/storage/site-folder.ts'
import { listPeers } from '../../peers/site-peers.ts'
import { listProfileRoles } from '../../site/site-profile.ts'
import type { DoctorContext } from '../examine-site.ts'
import { type DoctorFinding, reportOk, reportProblem, reportWarning } from '../finding.ts'

export async function checkFileSystems({ folder, env }: DoctorContext): Promise<DoctorFinding[]> {
  const roles = listProfileRoles(folder, env).flatMap(({ name }) => [
    roleDataFolder(folder, name),
    roleRunFolder(folder, name),
  ])
  const channels = (await listPeers(folder)).map(({ name }) => foldersOf(folder.filedrop, name))
  const places = [folder.data, folder.run, ...roles, folder.filedrop, ...channels.flatMap(selectProbeFolders)]
  const bySystem = Map.groupBy(places.filter(isFolder), (place) => fs.statSync(place).dev)
  return [...[...bySystem.values()].flatMap(checkFileSystem), ...channels.flatMap(checkSplitFolders)]
}

/** One folder of each side, where a running carrier ignores names that begin with a dot. */
function selectProbeFolders({ tmp, done }: ChannelFolders): string[] {
  return [tmp, done]
}

function isFolder(place: string): boolean {
  return fs.statSync(place, { throwIfNoEntry: false })?.isDirectory() ?? false
}

/** The folders of one file system. */
function checkFileSystem(places: readonly string[]): DoctorFinding[] {
  const [first = ''] = places
  const faults = places.flatMap((place) => {
    const code = runAsOwnerOf(place, () => probeWriteError(place))
    return code === undefined ? [] : [{ place, code }]
  })
  const byCode = [...Map.groupBy(faults, ({ code }) => code)]
  return byCode.length === 0
    ? [checkFreeSpace(first)]
    : byCode.map(([code, group]) =>
        reportUnwritable(
          code,
          group.map(({ place }) => place),
        ),
      )
}

/** Writes, syncs and removes a small file; returns the error code, or undefined on success. */
function probeWriteError(dir: string): string | undefined {
  const probe = join(dir, `.probe-${randomBytes(6).toString('hex')}`)
  try {
    const file = fs.openSync(probe, 'wx', 0o600)
    try {
      fs.writeSync(file, randomBytes(4_096))
      fs.fsyncSync(file)
    } finally {
      fs.closeSync(file)
      fs.rmSync(probe, { force: true })
    }
    return undefined
  } catch (error) {
    return (error as NodeJS.ErrnoException).code ?? String(error)
  }
}

const write_error_reasons: Readonly<Record<string, readonly [why: string, remedy: string]>> = {
  EROFS: ['its file system is read-only', 'look into the kernel log for why (dmesg), then mount it for writing'],
  ENOSPC: ['its file system is full', 'make room: nothing is acknowledged that cannot be written'],
  EDQUOT: ['the quota of its owner is used up', 'raise the quota, or make room'],
  EACCES: ['this user may not write there', 'run as root or as the owner, or see permissions above'],
  EIO: ['its disk fails', 'replace the disk, then restore a backup'],
}

function reportUnwritable(code: string, places: readonly string[]): DoctorFinding {
  const [why, remedy] = write_error_reasons[code] ?? [`writing fails with ${code}`, 'mend the file system']
  const [first = '', ...others] = places
  const more = others.length === 0 ? '' : ` (and in ${others.length} more folders on it)`
  return { ...reportProblem('disk', `nothing can be written in ${first}: ${why}${more}`, remedy), paths: places }
}

const warning_free_bytes = 1024 ** 3
const min_free_bytes = 128 * 1024 ** 2

function checkFreeSpace(path: string): DoctorFinding {
  const { bavail, bsize, ffree, files } = fs.statfsSync(path)
  const free = bavail * bsize
  const said = `${(free / 1024 ** 3).toFixed(1)} GiB free at ${path}`
  const remedy = 'make room: nothing is acknowledged that cannot be written'
  if (free < min_free_bytes) return reportProblem('disk', said, remedy)
  if (files > 0 && ffree < 1_000) return reportProblem('disk', `only ${ffree} more files fit at ${path}`, remedy)
  return free < warning_free_bytes ? reportWarning('disk', said, remedy) : reportOk('disk', said)
}

/** Files are renamed between folders, which is impossible across file systems. */
function checkSplitFolders({ home, tmp, ready, sent, fresh, work, done, quarantine }: ChannelFolders): DoctorFinding[] {
  return [
    [tmp, ready, sent],
    [fresh, work, done, quarantine],
  ].flatMap((side) => {
    const systems = new Set(side.filter(isFolder).map((place) => fs.statSync(place).dev))
    if (systems.size < 2) return []
    const detail = `${side.join(', ')} lie on ${systems.size} file systems, and files must be moved between them`
    return [reportProblem('disk', detail, `put ${home} on one file system`)]
  })
}
