// Tells whether the site runs a role: in this process, by its profile, at a URL, or in a process that was started for it.
import { existsSync } from 'node:fs'
import { connect } from 'node:net'
import { findRoleRoute, type RolePlaces } from '../role-route.ts'
import { roleSocketFile, type SiteFolder } from '../storage/site-folder.ts'

const timeout_ms = 2_000

export type RolePresence = (role: string) => Promise<boolean>

/** A role that the profile names or that has a URL is present also while it is down. `configured`: the roles of the profile. */
export function rolePresence(
  directory: RolePlaces & { readonly folder: SiteFolder },
  configured: readonly string[],
): RolePresence {
  const names = new Set(configured)
  return async (role) => {
    if (names.has(role) || findRoleRoute(directory, role).via !== 'socket') return true
    return await isListening(roleSocketFile(directory.folder, role))
  }
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
