// Lists the roles of a site that answer on their local sockets; the socket of a killed process does not answer.
import { existsSync } from 'node:fs'
import { connect } from 'node:net'
import { roleSocketFile, type SiteFolder } from '../../boot/storage/site-folder.ts'
import { roles } from '../../roles.ts'

const timeout_ms = 2_000

/** Names, in the order of the list of roles. */
export async function listRunningRoles(folder: SiteFolder): Promise<string[]> {
  const running = await Promise.all(
    roles.map(async ({ name }) => ((await isListening(roleSocketFile(folder, name))) ? [name] : [])),
  )
  return running.flat()
}

function isListening(path: string): Promise<boolean> {
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
