// Whether each path of a divided site is its user's, and as open as it has to be and no more.
import * as fs from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { asInvoker } from '../../acting.ts'
import type { Division } from '../../division.ts'
import { dataOf, roleKeysOf, runOf, type SiteFolder } from '../../site-folder.ts'
import { type Finding, fine, problem } from '../finding.ts'
import { type Kind, wantedFor } from '../wanted-owner.ts'

const remedy = 'stop the site; as root: platform site divide'

/** Root sees all; a user what is open to it, since the rest is none of its business. */
export function dividedFindings(folder: SiteFolder, division: Division): Finding[] {
  const base = dirname(folder.data)
  const parts = [folder.keys, folder.identity, folder.peers, folder.data, folder.filedrop, folder.run]
  const faults = asInvoker(() => [
    ...[...new Set([base, dirname(folder.profile)])].flatMap((home) => faultOf(home, [], division)),
    ...faultOf(folder.profile, ['profile.yaml'], division),
    ...parts.flatMap((part) => faultsIn(part, base, division)),
    ...[...division.users.keys()].flatMap((role) => missingOf(folder, role)),
  ])
  const [first] = faults
  if (!first) return [fine('permissions', 'each role’s files are its user’s alone')]
  const others = faults.length > 1 ? `, and ${faults.length - 1} more paths with faults` : ''
  return [
    {
      ...problem('permissions', `${first.path} ${first.fault}${others}`, remedy),
      paths: faults.map(({ path }) => path),
    },
  ]
}

type Fault = { readonly path: string; readonly fault: string }

/** Carriers bring and take files there under their own user and modes; the folders above them are closed. */
const carried = /^filedrop\/[^/]+\/(in\/new|out\/ready)\//
/** A message that came keeps the owner who brought it, wherever it is moved to. */
const brought = /^filedrop\/[^/]+\/in\/.*\.json$/

function faultsIn(path: string, base: string, division: Division): Fault[] {
  const name = relative(base, path)
  if (carried.test(name) || brought.test(name)) return []
  const own = faultOf(path, name.split('/'), division)
  return [...own, ...namesIn(path).flatMap((each) => faultsIn(join(path, each), base, division))]
}

/** Folders that a role must find, since its user cannot make them. */
function missingOf(folder: SiteFolder, role: string): Fault[] {
  const own = [dataOf(folder, role), runOf(folder, role), roleKeysOf(folder, role)]
  return own.filter((path) => !fs.lstatSync(path, { throwIfNoEntry: false })).map(missing)
}

function missing(path: string): Fault {
  return { path, fault: 'is missing' }
}

function faultOf(path: string, names: readonly string[], division: Division): Fault[] {
  const found = fs.lstatSync(path, { throwIfNoEntry: false })
  // What is gone since its folder was read was of a process that runs.
  if (!found) return names.length > 1 ? [] : [missing(path)]
  const kind = kindOf(found)
  if (!kind) return names.length > 2 ? [] : [{ path, fault: 'is neither folder nor file' }]
  const { uid, gid, mode } = wantedFor(names, kind, division)
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

function kindOf(found: fs.Stats): Kind | undefined {
  if (found.isDirectory()) return 'folder'
  if (found.isSocket()) return 'socket'
  return found.isFile() ? 'file' : undefined
}

/** What of it this user may see; links are not followed. */
function namesIn(path: string): string[] {
  if (!fs.lstatSync(path, { throwIfNoEntry: false })?.isDirectory()) return []
  try {
    return fs.readdirSync(path)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EACCES') return []
    throw error
  }
}
