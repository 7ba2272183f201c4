// Whether others can read, or change, what is the site's alone.
import * as fs from 'node:fs'
import { join } from 'node:path'
import { type Division, divisionOf, divisionProblems } from '../../division.ts'
import { ProfileError } from '../../profile.ts'
import type { SiteFolder } from '../../site-folder.ts'
import type { Examined } from '../examination.ts'
import { type Finding, fine, problem } from '../finding.ts'
import { type PathFault, pathFindings } from '../path-faults.ts'
import { type Environment, siteSettings } from '../site-profile.ts'
import { dividedFindings } from './divided.ts'

/** Carriers bring and take files there under their own user and modes; the folders above them are closed. */
const carried = /\/filedrop\/[^/]+\/(in\/new|out\/ready)\//

export function permissionFindings({ folder, env }: Examined): Finding[] {
  const division = divisionIn(folder, env)
  if (division) return dividedFindings(folder, division)
  const folders = [folder.keys, folder.identity, folder.peers, folder.data, folder.filedrop, folder.run]
  const missing = folders
    .filter((path) => !fs.existsSync(path))
    .map((path) =>
      problem('permissions', `${path} is missing`, `restore it from a backup, or run: mkdir -m 700 ${path}`),
    )
  const places = [folder.profile, ...folders].filter((path) => fs.existsSync(path))
  const faults = places.flatMap((below) => look(below).map((fault) => ({ ...fault, below })))
  const all = [...missing, ...pathFindings('permissions', faults)]
  return all.length > 0 ? all : [fine('permissions', 'nobody else can read keys, data or messages')]
}

/** A profile that cannot be used is another check's to tell of: then the site is taken for one of a single user. */
function divisionIn(folder: SiteFolder, env: Environment): Division | undefined {
  try {
    const { resolved } = siteSettings(folder, env)
    return divisionProblems(resolved, []).length === 0 ? divisionOf(resolved) : undefined
  } catch (error) {
    if (error instanceof ProfileError) return undefined
    throw error
  }
}

type Judgement = Omit<PathFault, 'below'>

function look(path: string): Judgement[] {
  const found = fs.lstatSync(path, { throwIfNoEntry: false })
  if (!found || found.isSymbolicLink() || found.isSocket() || carried.test(path)) return []
  const own = judge(path, found)
  if (!found.isDirectory()) return own
  return [...own, ...fs.readdirSync(path).flatMap((name) => look(join(path, name)))]
}

function judge(path: string, found: fs.Stats): Judgement[] {
  const uid = process.getuid?.()
  if (uid !== undefined && uid !== 0 && found.uid !== uid) {
    return [{ path, fault: 'belongs to another user', command: `chown -h ${uid}`, test: `! -user ${uid}` }]
  }
  if ((found.mode & 0o077) === 0) return []
  const mode = (found.mode & 0o777).toString(8)
  const [type, wanted] = found.isDirectory() ? ['d', '700'] : ['f', '600']
  const fault = `can be reached by others (mode ${mode})`
  return [{ path, fault, command: `chmod ${wanted}`, test: `-type ${type} -perm ${mode}` }]
}
