// Checks that the file systems of the site have free space, and tests by writing a file that they accept writes.
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
  const paths = [folder.data, folder.run, ...roles, folder.filedrop, ...channels.flatMap(selectProbeFolders)]
  const pathsBySystem = Map.groupBy(paths.filter(isFolder), (path) => fs.statSync(path).dev)
  return [...[...pathsBySystem.values()].flatMap(checkFileSystem), ...channels.flatMap(checkSplitFolders)]
}

/** One folder of each side, where a running carrier ignores names that begin with a dot. */
function selectProbeFolders({ tmp, done }: ChannelFolders): string[] {
  return [tmp, done]
}

function isFolder(path: string): boolean {
  return fs.statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false
}

/** Checks the folders of one file system. */
function checkFileSystem(paths: readonly string[]): DoctorFinding[] {
  const [first = ''] = paths
  const faults = paths.flatMap((path) => {
    const code = runAsOwnerOf(path, () => probeWriteError(path))
    return code === undefined ? [] : [{ place: path, code }]
  })
  const pathsByCode = [...Map.groupBy(faults, ({ code }) => code)]
  return pathsByCode.length === 0
    ? [checkFreeSpace(first)]
    : pathsByCode.map(([code, group]) =>
        reportUnwritable(
          code,
          group.map(({ place: path }) => path),
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
  EROFS: ['its file system is read-only', 'find the cause in the kernel log (dmesg), then mount it for writing'],
  ENOSPC: ['its file system is full', 'free some space: until then the site acknowledges nothing'],
  EDQUOT: ['the quota of its owner is used up', 'raise the quota, or free some space'],
  EACCES: ['this user may not write there', 'run as root or as the owner, or see permissions above'],
  EIO: ['its disk has I/O errors', 'replace the disk, then restore a backup'],
}

function reportUnwritable(code: string, paths: readonly string[]): DoctorFinding {
  const [reason, remedy] = write_error_reasons[code] ?? [`writing fails with ${code}`, 'repair the file system']
  const [first = '', ...otherPaths] = paths
  const moreText = otherPaths.length === 0 ? '' : ` (and in ${otherPaths.length} more folders on it)`
  return {
    ...reportProblem('disk.not_writable', `nothing can be written in ${first}: ${reason}${moreText}`, remedy),
    paths,
  }
}

const warning_free_bytes = 1024 ** 3
const min_free_bytes = 128 * 1024 ** 2

function checkFreeSpace(path: string): DoctorFinding {
  const { bavail, bsize, ffree, files } = fs.statfsSync(path)
  const free = bavail * bsize
  const detail = `${(free / 1024 ** 3).toFixed(1)} GiB free at ${path}`
  const remedy = 'free some space: the site acknowledges nothing that it cannot write'
  if (free < min_free_bytes) return reportProblem('disk.full', detail, remedy)
  if (files > 0 && ffree < 1_000)
    return reportProblem('disk.no_files_left', `only ${ffree} more files fit at ${path}`, remedy)
  return free < warning_free_bytes ? reportWarning('disk.nearly_full', detail, remedy) : reportOk('disk', detail)
}

/** Files are renamed between folders, which is impossible across file systems. */
function checkSplitFolders({ home, tmp, ready, sent, fresh, work, done, quarantine }: ChannelFolders): DoctorFinding[] {
  return [
    [tmp, ready, sent],
    [fresh, work, done, quarantine],
  ].flatMap((side) => {
    const systems = new Set(side.filter(isFolder).map((path) => fs.statSync(path).dev))
    if (systems.size < 2) return []
    const detail = `${side.join(', ')} are on ${systems.size} file systems; files must be renamed between them`
    return [reportProblem('disk.split_channel', detail, `put ${home} on one file system`)]
  })
}
