// Whose hand touches the site's files: what root starts acts as the user to whom each part belongs. Root itself would
// follow links that such a user has laid, and leave files that the user cannot open.
import { lstatSync } from 'node:fs'

type User = { readonly uid: number; readonly gid: number; readonly groups: readonly number[] }

/** From now on, until told otherwise: as the owner of what lies there. Changes nothing for who is not root. */
export function actAsOwnerOf(path: string): void {
  const owner = ownerOf(path)
  if (owner) become(owner)
}

/** Runs `act` as the owner of what lies there; as before when nothing does, or for who is not root. */
export function asOwnerOf<T>(path: string, act: () => T): T {
  const owner = ownerOf(path)
  return owner ? during(owner, act) : act()
}

/** Runs `act` as whoever started the command: for files that a person named. */
export function asInvoker<T>(act: () => T): T {
  return isRoots() ? during(invoker, act) : act()
}

/** Before anything was changed. */
const invoker: User = current()

function isRoots(): boolean {
  return process.getuid?.() === 0
}

function current(): User {
  return {
    uid: process.geteuid?.() ?? 0,
    gid: process.getegid?.() ?? 0,
    groups: process.getgroups?.() ?? [],
  }
}

function ownerOf(path: string): User | undefined {
  const found = isRoots() ? lstatSync(path, { throwIfNoEntry: false }) : undefined
  if (!found) return undefined
  return found.uid === 0 ? invoker : { uid: found.uid, gid: found.gid, groups: [found.gid] }
}

function during<T>(user: User, act: () => T): T {
  const before = current()
  become(user)
  let result: T
  try {
    result = act()
  } catch (error) {
    become(before)
    throw error
  }
  if (result instanceof Promise) return result.finally(() => become(before)) as T
  become(before)
  return result
}

/** The groups first, while it is still root that asks. */
function become({ uid, gid, groups }: User): void {
  if (process.geteuid?.() === uid && process.getegid?.() === gid) return
  process.seteuid?.(0)
  process.setgroups?.([...groups])
  process.setegid?.(gid)
  process.seteuid?.(uid)
}
