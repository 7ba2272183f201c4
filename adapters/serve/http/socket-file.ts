// Makes room for a unix socket that only its owner and, where wanted, one group can reach, and never replaces a live one.
import { chmod, chown, lstat, mkdir, stat, unlink } from 'node:fs/promises'
import net from 'node:net'
import path from 'node:path'

/**
 * Makes the folder (0700) and removes the socket file that a crash left behind. Throws when the folder is open to
 * others than `group`, when the path is not a socket, or when a process still listens there.
 */
export async function prepareSocketFile(file: string, group?: number): Promise<void> {
  const folder = path.dirname(file)
  await mkdir(folder, { recursive: true, mode: 0o700 })
  const { mode, gid } = await stat(folder)
  // The group may reach the socket, but not create one here: that would impersonate the role.
  if ((mode & (gid === group ? 0o027 : 0o077)) !== 0) {
    throw new Error(`the folder of the socket must be closed to others (0700): ${folder}`)
  }
  const found = await lstat(file).catch(() => undefined)
  if (!found) return
  if (!found.isSocket()) throw new Error(`not a socket, so it stays: ${file}`)
  if (await isAlive(file)) throw new Error(`another process listens on ${file}`)
  await unlink(file)
}

/** For its owner alone, or for the members of `group` as well. */
export async function restrictSocketFile(file: string, group?: number): Promise<void> {
  if (group === undefined) return await chmod(file, 0o600)
  await chown(file, (await lstat(file)).uid, group)
  await chmod(file, 0o660)
}

function isAlive(file: string): Promise<boolean> {
  return new Promise((resolve, reject) => {
    const probe = net.connect(file)
    probe.once('connect', () => {
      probe.destroy()
      resolve(true)
    })
    probe.once('error', (error: NodeJS.ErrnoException) => {
      if (error.code === 'ECONNREFUSED' || error.code === 'ENOENT') resolve(false)
      else reject(error)
    })
  })
}
