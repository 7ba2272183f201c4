// Whether others can read, or change, what is the site's alone.
import * as fs from 'node:fs'
import { join } from 'node:path'
import type { Examined } from '../examination.ts'
import { type Finding, fine, problem } from '../finding.ts'

/** Carriers bring and take files there under their own user and modes; the folders above them are closed. */
const carried = /\/filedrop\/[^/]+\/(in\/new|out\/ready)\//

export function permissionFindings({ folder }: Examined): Finding[] {
  const folders = [folder.keys, folder.identity, folder.peers, folder.data, folder.filedrop, folder.run]
  const missing = folders
    .filter((path) => !fs.existsSync(path))
    .map((path) =>
      problem('permissions', `${path} is missing`, `restore it from a backup, or run: mkdir -m 700 ${path}`),
    )
  const findings = [folder.profile, ...folders].filter((path) => fs.existsSync(path)).flatMap(look)
  const all = [...missing, ...findings]
  return all.length > 0 ? all : [fine('permissions', 'nobody else can read keys, data or messages')]
}

function look(path: string): Finding[] {
  const found = fs.lstatSync(path, { throwIfNoEntry: false })
  if (!found || found.isSymbolicLink() || found.isSocket() || carried.test(path)) return []
  const own = judge(path, found)
  if (!found.isDirectory()) return own
  return [...own, ...fs.readdirSync(path).flatMap((name) => look(join(path, name)))]
}

function judge(path: string, found: fs.Stats): Finding[] {
  const uid = process.getuid?.()
  if (uid !== undefined && uid !== 0 && found.uid !== uid) {
    return [problem('permissions', `${path} belongs to another user`, `run as its owner: chown -R ${uid} ${path}`)]
  }
  if ((found.mode & 0o077) === 0) return []
  const mode = (found.mode & 0o777).toString(8)
  const wanted = found.isDirectory() ? '700' : '600'
  return [problem('permissions', `others can reach ${path} (mode ${mode})`, `chmod ${wanted} ${path}`)]
}
