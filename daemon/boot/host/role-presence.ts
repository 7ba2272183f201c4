// Tells whether the site runs a role: in this process, by its profile, or in a process that was started for it.
import { existsSync } from 'node:fs'
import { connect } from 'node:net'
import type { RoleDirectory } from '../role-caller.ts'
import { roleSocketFile } from '../storage/site-folder.ts'

const timeout_ms = 2_000

export type RolePresence = (role: string) => Promise<boolean>

/** A role that the profile names is present also while it is down. `configured`: the roles of the profile. */
export function rolePresence({ folder, contexts }: RoleDirectory, configured: readonly string[]): RolePresence {
  const names = new Set(configured)
  return async (role) => names.has(role) || contexts.has(role) || (await isListening(roleSocketFile(folder, role)))
}

/** The socket of a killed process does not answer. */
export function isListening(path: string): Promise<boolean> {
  if (!existsSync(path)) return Promise.resolve(false)
  return new Promise((resolve) => {
    const socket = connect({ path })
    const finish = (outcome: boolean) => {
      socket.destroy()
      resolve(outcome)
    }
    socket.setTimeout(timeout_ms, () => finish(true))
    socket.once('connect', () => finish(true))
    // A socket of another user counts as running, since this user cannot know.
    socket.once('error', (error: NodeJS.ErrnoException) => finish(error.code === 'EACCES'))
  })
}
