// Locks every role of a stopped site, so that none can start while a command changes its data.
import * as z from 'zod'
import { lockRole } from '../../boot/storage/role-storage.ts'
import { roleRunFolder, type SiteFolder } from '../../boot/storage/site-folder.ts'
import type { RoleOutline } from '../../kernel/role/role.ts'
import { roles } from '../../roles.ts'
import { OfflineCommandError } from '../offline-command-error.ts'
import { roleTask } from '../role-task/role-task.ts'
import { runRoleTask } from '../role-task/run-role-task.ts'

export type RoleLock = { release(): Promise<void> }

/** Throws `OfflineCommandError` (3) while a role runs. */
export async function lockAllRoles(folder: SiteFolder): Promise<RoleLock[]> {
  const locks: RoleLock[] = []
  try {
    for (const role of roles) locks.push(await takeRoleLock(folder, role))
  } catch (error) {
    await releaseLocks(locks)
    throw error
  }
  return locks
}

/** The last one first: each restores the user that the process acted as before it. */
export async function releaseLocks(locks: readonly RoleLock[]): Promise<void> {
  for (const lock of locks.toReversed()) await lock.release()
}

/** The task holds the lock until its event is handled. */
async function takeRoleLock(folder: SiteFolder, role: RoleOutline): Promise<RoleLock> {
  const held = Promise.withResolvers<void>()
  const released = Promise.withResolvers<void>()
  const task = runRoleTask(holdLock, { folder, env: {}, role }, null, async () => {
    held.resolve()
    await released.promise
  })
  await Promise.race([held.promise, task])
  return {
    async release() {
      released.resolve()
      await task
    },
  }
}

/** Emits one event while it holds the lock. */
export const holdLock = roleTask({
  name: 'hold-lock',
  locateFolder: roleRunFolder,
  input: z.null(),
  event: z.null(),
  output: z.null(),
  async run({ folder, role }, _input, emit) {
    const lock = lockRole(folder, role.name)
    if (!lock) throw new OfflineCommandError(3, `the role ${role.name} is running`, 'stop the site first')
    try {
      await emit(null)
    } finally {
      lock.release()
    }
    return null
  },
})
