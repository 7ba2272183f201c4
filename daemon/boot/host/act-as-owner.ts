// Whose hand touches the site's files: what root starts acts as the user to whom each part belongs. Root itself would
// follow links that such a user has laid, and leave files that the user cannot open.
import { lstatSync } from 'node:fs'

type ProcessUser = { readonly uid: number; readonly gid: number; readonly groups: readonly number[] }

/** From now on, until told otherwise: as the owner of what lies there. Changes nothing for who is not root. */
export function actAsOwnerOf(path: string): void {
  const owner = findOwner(path)
  if (owner) switchUser(owner)
}

/** Runs `act` as the owner of what lies there; as before when nothing does, or for who is not root. */
export function runAsOwnerOf<T>(path: string, act: () => T): T {
  const owner = findOwner(path)
  return owner ? runAsUser(owner, act) : act()
}

/** Runs `act` as whoever started the command: for files that a person named. */
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

/** The groups first, while it is still root that asks. */
function switchUser({ uid, gid, groups }: ProcessUser): void {
  if (process.geteuid?.() === uid && process.getegid?.() === gid) return
  process.seteuid?.(0)
  process.setgroups?.([...groups])
  process.setegid?.(gid)
  process.seteuid?.(uid)
}
