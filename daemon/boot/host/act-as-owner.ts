// Runs file operations as the owner of the files when root runs a command. Root itself would follow links that the owner
// planted, and create files that the owner cannot open.
import { lstatSync, readFileSync } from 'node:fs'

type ProcessUser = { readonly uid: number; readonly gid: number; readonly groups: readonly number[] }

/** Switches this process to the owner of the path. Does nothing unless root runs it. */
export function actAsOwnerOf(path: string): void {
  const owner = findOwner(path)
  if (owner) switchUser(owner)
}

/**
 * Makes this process the owner of the path for good: groups, real, effective and saved ids, so that nothing it reads can
 * bring the rights of root back. Does nothing unless root runs it. Throws if the kernel kept a way back.
 */
export function becomeOwnerOf(path: string): void {
  const owner = findOwner(path)
  if (!owner || owner.uid === 0) return
  // Only the effective user root may change the groups, and an earlier step may have switched it.
  if (process.geteuid?.() !== 0) process.seteuid?.(0)
  process.setgroups?.([...owner.groups])
  process.setgid?.(owner.gid)
  process.setuid?.(owner.uid)
  const ids = readFileSync('/proc/self/status', 'utf8').match(/^[UG]id:.*$/gm) ?? []
  const expected = [owner.uid, owner.gid].map((id) => Array(4).fill(id).join('\t'))
  if (ids.map((line) => line.slice('Uid:\t'.length)).join() !== expected.join())
    throw new Error(`the rights of root were not given up: ${ids.join('; ')}`)
}

export type FileOwner = { readonly uid: number; readonly gid: number; readonly isFolder: boolean }

/**
 * The owner of the path, if this process can become root and another user owns it: its content may attack root. Also for
 * what should be a folder and is a link, of whomever.
 */
export function findForeignOwner(path: string): FileOwner | undefined {
  const stats = isRoot() ? lstatSync(path, { throwIfNoEntry: false }) : undefined
  if (!stats || (stats.uid === 0 && stats.isDirectory())) return undefined
  return { uid: stats.uid, gid: stats.gid, isFolder: stats.isDirectory() }
}

/** Runs the action as the owner of the path; unchanged if the path does not exist, or unless root runs it. */
export function runAsOwnerOf<T>(path: string, action: () => T): T {
  const owner = findOwner(path)
  return owner ? runAsUser(owner, action) : action()
}

/** Runs the action as the user that started the command, for files that a person named. */
export function runAsInvoker<T>(action: () => T): T {
  return isRoot() ? runAsUser(invoker, action) : action()
}

/** The user at the start of the process. */
const invoker: ProcessUser = readCurrentUser()

function isRoot(): boolean {
  return process.getuid?.() === 0
}

function readCurrentUser(): ProcessUser {
  return {
    uid: process.geteuid?.() ?? 0,
    gid: process.getegid?.() ?? 0,
    groups: process.getgroups?.() ?? [],
  }
}

function findOwner(path: string): ProcessUser | undefined {
  const stats = isRoot() ? lstatSync(path, { throwIfNoEntry: false }) : undefined
  if (!stats) return undefined
  return stats.uid === 0 ? invoker : { uid: stats.uid, gid: stats.gid, groups: [stats.gid] }
}

function runAsUser<T>(user: ProcessUser, action: () => T): T {
  const previousUser = readCurrentUser()
  switchUser(user)
  let result: T
  try {
    result = action()
  } catch (error) {
    switchUser(previousUser)
    throw error
  }
  if (result instanceof Promise) return result.finally(() => switchUser(previousUser)) as T
  switchUser(previousUser)
  return result
}

/** Sets the groups first, while the process still is root. */
function switchUser({ uid, gid, groups }: ProcessUser): void {
  if (process.geteuid?.() === uid && process.getegid?.() === gid) return
  process.seteuid?.(0)
  process.setgroups?.([...groups])
  process.setegid?.(gid)
  process.seteuid?.(uid)
}
