// The folder of one run: its parent belongs to this process, and what the command may write is read and removed with the
// command's own rights alone, since it may be changing paths meanwhile.
import { chmod, chown, type FileHandle, lstat, mkdir, mkdtemp, open, readdir, rmdir } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { userLine } from './launch.ts'
import { endProcessesOf } from './process-scope.ts'
import { isAbandoned, runNamePrefix } from './run-name.ts'
import { runTool } from './run-tool.ts'
import { isSandboxUser, type SandboxUser } from './sandbox-user.ts'

export type RunFolder = {
  /** Mount point of the command's root. */
  readonly path: string
  /** Where the command's files are without namespaces. */
  readonly home: string
}

export async function createRunFolder(): Promise<RunFolder> {
  const path = await mkdtemp(join(tmpdir(), runNamePrefix()))
  return { path, home: join(path, 'home') }
}

/** Copies of its own, so that the command sees neither the folder that a file comes from nor a later change of it. */
export async function fillHome(
  { path, home }: RunFolder,
  names: readonly string[],
  opened: readonly FileHandle[],
  user: SandboxUser | undefined,
): Promise<void> {
  await mkdir(home, { mode: 0o700 })
  for (const [at, name] of names.entries()) {
    const copy = await open(join(home, name), 'wx', 0o400)
    try {
      const file = opened[at] as FileHandle
      await copy.writeFile(file.createReadStream({ autoClose: false }))
      if (user) await copy.chown(user.uid, user.gid)
    } finally {
      await copy.close()
    }
  }
  if (!user) return
  await chown(home, user.uid, user.gid)
  await chmod(path, 0o711)
}

/** A file that a process which cannot be ended still writes stays, and with it its folder. */
export async function removeRunFolder({ path, home }: RunFolder): Promise<void> {
  const owner = await readOwner(home)
  if (owner !== undefined) {
    const user = owner === process.getuid?.() ? undefined : { uid: owner, gid: owner }
    await runTool(userLine(user, 'chmod', '-R', 'u+rwx', '--', home))
    await runTool(userLine(user, 'rm', '-rf', '--', home))
    await rmdir(home).catch(() => undefined)
  }
  await rmdir(path).catch(() => undefined)
}

/** Removes the folders of processes that were killed during a run, and ends what still runs there. */
export async function removeAbandonedFolders(): Promise<void> {
  for (const name of (await readdir(tmpdir())).filter(isAbandoned)) {
    const path = join(tmpdir(), name)
    if ((await readOwner(path)) !== process.getuid?.()) continue
    const home = join(path, 'home')
    const uid = await readOwner(home)
    if (uid !== undefined && isSandboxUser(uid)) await endProcessesOf({ uid, gid: uid })
    await removeRunFolder({ path, home })
  }
}

/** Undefined for what is not a folder. */
async function readOwner(path: string): Promise<number | undefined> {
  const stat = await lstat(path).catch(() => undefined)
  return stat?.isDirectory() ? stat.uid : undefined
}
