// Makes room for a unix socket that only its owner can reach, and never takes one that is alive.
import { chmod, lstat, mkdir, stat, unlink } from 'node:fs/promises'
import net from 'node:net'
import path from 'node:path'

/**
 * Makes the folder (0700) and removes the socket file that a crash left behind. Throws when the folder is open to
 * others, when the path is something else than a socket, or when someone still answers there.
 */
export async function prepareSocketFile(file: string): Promise<void> {
  const folder = path.dirname(file)
  await mkdir(folder, { recursive: true, mode: 0o700 })
  if (((await stat(folder)).mode & 0o077) !== 0) {
    throw new Error(`the folder of the socket must be closed to others (0700): ${folder}`)
  }
  const found = await lstat(file).catch(() => undefined)
  if (!found) return
  if (!found.isSocket()) throw new Error(`not a socket, so it stays: ${file}`)
  if (await isAlive(file)) throw new Error(`another process listens on ${file}`)
  await unlink(file)
}

export function closeToOthers(file: string): Promise<void> {
  return chmod(file, 0o600)
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
