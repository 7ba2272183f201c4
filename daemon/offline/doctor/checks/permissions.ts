// Checks that other users can neither read nor change the private files of the site.
import * as fs from 'node:fs'
import { join } from 'node:path'
import { restoreFolder } from '../../../../adapters/platform/missing-path/missing-path.ts'
import { findDivisionProblems, resolveDivision, type SiteDivision } from '../../../boot/host/site-division.ts'
import type { SiteFolder } from '../../../boot/storage/site-folder.ts'
import { ProfileError } from '../../../kernel/settings/profile-error.ts'
import { type EnvironmentVariables, readSiteSettings } from '../../site/site-profile.ts'
import type { DoctorContext } from '../examine-site.ts'
import { type DoctorFinding, reportOk, reportProblem } from '../finding.ts'
import { type PathFault, reportPathFaults } from '../path-faults.ts'
import { checkDivision } from './division.ts'

/** Carriers read and write there under their own user and modes; the folders above are closed to others. */
const carrierFolderPattern = /\/filedrop\/[^/]+\/(in\/new|out\/ready)\//

export function checkPermissions({ folder, env }: DoctorContext): DoctorFinding[] {
  const division = readDivision(folder, env)
  if (division) return checkDivision(folder, division)
  const folders = [folder.keys, folder.identity, folder.peers, folder.data, folder.filedrop, folder.run]
  const missingFindings = folders
    .filter((path) => !fs.existsSync(path))
    .map((path) => ({
      ...reportProblem('permissions.folder_missing', `${path} is missing`, restoreFolder(path)),
      paths: [path],
    }))
  const paths = [folder.profile, ...folders].filter((path) => fs.existsSync(path))
  const faults = paths.flatMap((root) => findPermissionFaults(root).map((fault) => ({ ...fault, root })))
  const findings = [...missingFindings, ...reportPathFaults('permissions.wrong', faults)]
  return findings.length > 0 ? findings : [reportOk('permissions', 'nobody else can read keys, data or messages')]
}

/** Assumes a single user if the profile is not valid, which another check reports. */
function readDivision(folder: SiteFolder, env: EnvironmentVariables): SiteDivision | undefined {
  try {
    const { resolved } = readSiteSettings(folder, env)
    return findDivisionProblems(resolved, []).length === 0 ? resolveDivision(resolved) : undefined
  } catch (error) {
    if (error instanceof ProfileError) return undefined
    throw error
  }
}

type PermissionFault = Omit<PathFault, 'root'>

function findPermissionFaults(path: string): PermissionFault[] {
  const stats = fs.lstatSync(path, { throwIfNoEntry: false })
  if (!stats || stats.isSymbolicLink() || stats.isSocket() || carrierFolderPattern.test(path)) return []
  const pathFaults = checkPathMode(path, stats)
  if (!stats.isDirectory()) return pathFaults
  return [...pathFaults, ...fs.readdirSync(path).flatMap((name) => findPermissionFaults(join(path, name)))]
}

function checkPathMode(path: string, stats: fs.Stats): PermissionFault[] {
  const uid = process.getuid?.()
  if (uid !== undefined && uid !== 0 && stats.uid !== uid) {
    return [{ path, fault: 'belongs to another user', command: `chown -h ${uid}`, test: `! -user ${uid}` }]
  }
  if ((stats.mode & 0o077) === 0) return []
  const mode = (stats.mode & 0o777).toString(8)
  const [type, expectedMode] = stats.isDirectory() ? ['d', '700'] : ['f', '600']
  const fault = `can be reached by others (mode ${mode})`
  return [{ path, fault, command: `chmod ${expectedMode}`, test: `-type ${type} -perm ${mode}` }]
}
