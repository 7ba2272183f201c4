// File access as the owner of the site's files: a process that root starts acts as the user who owns each part. Root would
// follow links that such a user has laid, and leave files that the user cannot open.
import { lstatSync } from 'node:fs'

type ProcessUser = { readonly uid: number; readonly gid: number; readonly groups: readonly number[] }

/** Acts as the owner of this folder until it is called again. Without effect for a process that is not root. */
export function actAsOwnerOf(path: string): void {
  const owner = findOwner(path)
  if (owner) switchUser(owner)
}

/** Runs `act` as the owner of what lies there; as before when nothing does, or for who is not root. */
export function runAsOwnerOf<T>(path: string, act: () => T): T {
  const owner = findOwner(path)
  return owner ? runAsUser(owner, act) : act()
}

/** Runs `act` as the user who started the command: for files named by a person. */
export function runAsInvoker<T>(act: () => T): T {
  return isRoot() ? runAsUser(invoker, act) : act()
}

/** Before anything was changed. */
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
  const found = isRoot() ? lstatSync(path, { throwIfNoEntry: false }) : undefined
  if (!found) return undefined
  return found.uid === 0 ? invoker : { uid: found.uid, gid: found.gid, groups: [found.gid] }
}

function runAsUser<T>(user: ProcessUser, act: () => T): T {
  const before = readCurrentUser()
  switchUser(user)
  let result: T
  try {
    result = act()
  } catch (error) {
    switchUser(before)
    throw error
  }
  if (result instanceof Promise) return result.finally(() => switchUser(before)) as T
  switchUser(before)
  return result
}

/** Sets the groups first, while the process is still root. */
function switchUser({ uid, gid, groups }: ProcessUser): void {
  if (process.geteuid?.() === uid && process.getegid?.() === gid) return
  process.seteuid?.(0)
  process.setgroups?.([...groups])
  process.setegid?.(gid)
  process.seteuid?.(uid)
}
