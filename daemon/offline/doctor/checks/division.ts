// Checks that each path of a site divided between users has the right owner and the minimal mode.
import * as fs from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { runAsInvoker } from '../../../boot/host/act-as-owner.ts'
import type { SiteDivision } from '../../../boot/host/site-division.ts'
import { roleDataFolder, roleKeysFolder, roleRunFolder, type SiteFolder } from '../../../boot/storage/site-folder.ts'
import { findExpectedOwnership, type SitePathKind } from '../../site/path-ownership.ts'
import { type DoctorFinding, reportOk, reportProblem } from '../finding.ts'

const remedy = 'stop the site; as root: platform site divide'

/** Root checks all paths; another user checks those it can read. */
export function checkDivision(folder: SiteFolder, division: SiteDivision): DoctorFinding[] {
  const base = dirname(folder.data)
  const parts = [folder.keys, folder.identity, folder.peers, folder.data, folder.filedrop, folder.run]
  const faults = runAsInvoker(() => [
    ...[...new Set([base, dirname(folder.profile)])].flatMap((home) => checkPathOwnership(home, [], division)),
    ...checkPathOwnership(folder.profile, ['profile.yaml'], division),
    ...parts.flatMap((part) => findOwnershipFaults(part, base, division)),
    ...[...division.users.keys()].flatMap((role) => findMissingFolders(folder, role)),
  ])
  const [first] = faults
  if (!first) return [reportOk('permissions', 'only the user of each role can access its files')]
  const moreText = faults.length > 1 ? `, and ${faults.length - 1} more paths with faults` : ''
  return [
    {
      ...reportProblem('permissions.not_divided', `${first.path} ${first.fault}${moreText}`, remedy),
      paths: faults.map(({ path }) => path),
    },
  ]
}

type OwnershipFault = { readonly path: string; readonly fault: string }

/** Carriers read and write there under their own user and modes; the folders above are closed to others. */
const carrierFolderPattern = /^filedrop\/[^/]+\/(in\/new|out\/ready)\//
/** A received message keeps the owner that delivered it, in every folder. */
const incomingMessagePattern = /^filedrop\/[^/]+\/in\/.*\.json$/

function findOwnershipFaults(path: string, base: string, division: SiteDivision): OwnershipFault[] {
  const name = relative(base, path)
  if (carrierFolderPattern.test(name) || incomingMessagePattern.test(name)) return []
  const pathFaults = checkPathOwnership(path, name.split('/'), division)
  return [
    ...pathFaults,
    ...listVisibleNames(path).flatMap((name) => findOwnershipFaults(join(path, name), base, division)),
  ]
}

/** Folders that must exist, since the role's user cannot create them. */
function findMissingFolders(folder: SiteFolder, role: string): OwnershipFault[] {
  const pathFaults = [roleDataFolder(folder, role), roleRunFolder(folder, role), roleKeysFolder(folder, role)]
  return pathFaults.filter((path) => !fs.lstatSync(path, { throwIfNoEntry: false })).map(reportMissingPath)
}

function reportMissingPath(path: string): OwnershipFault {
  return { path, fault: 'is missing' }
}

function checkPathOwnership(path: string, names: readonly string[], division: SiteDivision): OwnershipFault[] {
  const stats = fs.lstatSync(path, { throwIfNoEntry: false })
  // A path that vanished since its folder was read belonged to a running process.
  if (!stats) return names.length > 1 ? [] : [reportMissingPath(path)]
  const kind = detectPathKind(stats)
  if (!kind) return names.length > 2 ? [] : [{ path, fault: 'is neither a folder nor a regular file' }]
  const { uid, gid, mode } = findExpectedOwnership(names, kind, division)
  if (stats.uid !== uid || stats.gid !== gid) {
    return [{ path, fault: `belongs to ${stats.uid}:${stats.gid}; expected ${uid}:${gid}` }]
  }
  const [actual, expected] = [stats.mode & 0o777, mode & 0o777]
  const isTooOpen = (actual & ~expected) !== 0
  const isTooClosed = (expected & 0o070 & ~actual) !== 0
  return isTooOpen || isTooClosed
    ? [{ path, fault: `has mode ${actual.toString(8)}; expected ${expected.toString(8)}` }]
    : []
}

function detectPathKind(stats: fs.Stats): SitePathKind | undefined {
  if (stats.isDirectory()) return 'folder'
  if (stats.isSocket()) return 'socket'
  return stats.isFile() ? 'file' : undefined
}

/** Lists the paths that this user can see; does not follow links. */
function listVisibleNames(path: string): string[] {
  if (!fs.lstatSync(path, { throwIfNoEntry: false })?.isDirectory()) return []
  try {
    return fs.readdirSync(path)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EACCES') return []
    throw error
  }
}
