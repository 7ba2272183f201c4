// Lists the roles of a site that answer on their local sockets; the socket of a killed process does not answer.
import { isListening } from '../../boot/host/role-presence.ts'
import { roleSocketFile, type SiteFolder } from '../../boot/storage/site-folder.ts'
import { roles } from '../../roles.ts'

/** Names, in the order of the list of roles. */
export async function listRunningRoles(folder: SiteFolder): Promise<string[]> {
  const running = await Promise.all(
    roles.map(async ({ name }) => ((await isListening(roleSocketFile(folder, name))) ? [name] : [])),
  )
  return running.flat()
}
