// Branches of a bare repository as files: each changes by a rename, under the lock file that git programs keep to.
import { existsSync, readFileSync } from 'node:fs'
import { mkdir, unlink } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { deleteRef } from 'isomorphic-git'
import { syncFolder } from '../../platform/durable-file/sync-folder.ts'
import { writeDurably, writeDurablyAsync } from '../../platform/durable-file/write-durably.ts'
import { durableGitFiles } from './durable-git-files.ts'

/** The content by which a lock file that a crash has left is known: the turn of this process shows that no other has it. */
const own_lock = 'platform\n'

/** `locked`: a git program changes the branch now. The caller has the turn of the repository. */
export async function lockBranch(gitdir: string, branch: string): Promise<'locked' | { release(): Promise<void> }> {
  const lock = `${branchFile(gitdir, branch)}.lock`
  await mkdir(dirname(lock), { recursive: true, mode: 0o700 })
  try {
    if (existsSync(lock) && readFileSync(lock, 'utf8') === own_lock) await unlink(lock)
    writeDurably(lock, own_lock, { existing_file: 'refuse' })
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code === 'EEXIST' || code === 'ENOENT') return 'locked'
    throw error
  }
  return { release: () => unlink(lock) }
}

export async function setBranch(gitdir: string, branch: string, commit: string): Promise<void> {
  const file = branchFile(gitdir, branch)
  const heads = join(gitdir, 'refs', 'heads')
  await mkdir(dirname(file), { recursive: true, mode: 0o700 })
  for (let folder = dirname(file); folder !== heads; folder = dirname(folder)) syncFolder(dirname(folder))
  await writeDurablyAsync(file, `${commit}\n`)
}

/** Does nothing for a branch that there is not. */
export async function removeBranch(gitdir: string, branch: string): Promise<void> {
  await deleteRef({ fs: durableGitFiles, gitdir, ref: `refs/heads/${branch}` })
}

function branchFile(gitdir: string, branch: string): string {
  return join(gitdir, 'refs', 'heads', branch)
}
