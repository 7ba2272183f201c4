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
  if (!first) return [reportOk('permissions', 'each role’s files are its user’s alone')]
  const others = faults.length > 1 ? `, and ${faults.length - 1} more paths with faults` : ''
  return [
    {
      ...reportProblem('permissions', `${first.path} ${first.fault}${others}`, remedy),
      paths: faults.map(({ path }) => path),
    },
  ]
}

type OwnershipFault = { readonly path: string; readonly fault: string }

/** Carriers read and write there under their own user and modes; the folders above are closed to others. */
const carrierFolderPattern = /^filedrop\/[^/]+\/(in\/new|out\/ready)\//
/** A received message keeps the owner who brought it, wherever it is moved. */
const incomingMessagePattern = /^filedrop\/[^/]+\/in\/.*\.json$/

function findOwnershipFaults(path: string, base: string, division: SiteDivision): OwnershipFault[] {
  const name = relative(base, path)
  if (carrierFolderPattern.test(name) || incomingMessagePattern.test(name)) return []
  const own = checkPathOwnership(path, name.split('/'), division)
  return [...own, ...listVisibleNames(path).flatMap((each) => findOwnershipFaults(join(path, each), base, division))]
}

/** Folders that must exist, since the role's user cannot create them. */
function findMissingFolders(folder: SiteFolder, role: string): OwnershipFault[] {
  const own = [roleDataFolder(folder, role), roleRunFolder(folder, role), roleKeysFolder(folder, role)]
  return own.filter((path) => !fs.lstatSync(path, { throwIfNoEntry: false })).map(reportMissingPath)
}

function reportMissingPath(path: string): OwnershipFault {
  return { path, fault: 'is missing' }
}

function checkPathOwnership(path: string, names: readonly string[], division: SiteDivision): OwnershipFault[] {
  const found = fs.lstatSync(path, { throwIfNoEntry: false })
  // A path that vanished since its folder was read belonged to a running process.
  if (!found) return names.length > 1 ? [] : [reportMissingPath(path)]
  const kind = detectPathKind(found)
  if (!kind) return names.length > 2 ? [] : [{ path, fault: 'is neither a folder nor a regular file' }]
  const { uid, gid, mode } = findExpectedOwnership(names, kind, division)
  if (found.uid !== uid || found.gid !== gid) {
    return [{ path, fault: `belongs to ${found.uid}:${found.gid}, and should to ${uid}:${gid}` }]
  }
  const [is, should] = [found.mode & 0o777, mode & 0o777]
  const isTooOpen = (is & ~should) !== 0
  const isTooClosed = (should & 0o070 & ~is) !== 0
  return isTooOpen || isTooClosed
    ? [{ path, fault: `has mode ${is.toString(8)}, and should have ${should.toString(8)}` }]
    : []
}

function detectPathKind(found: fs.Stats): SitePathKind | undefined {
  if (found.isDirectory()) return 'folder'
  if (found.isSocket()) return 'socket'
  return found.isFile() ? 'file' : undefined
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
