// Lock files that git programs keep to: who made `FILE.lock` may change `FILE`.
import { existsSync, readFileSync } from 'node:fs'
import { mkdir, unlink } from 'node:fs/promises'
import { dirname } from 'node:path'
import { writeDurably } from '../../platform/durable-file/write-durably.ts'
import { waitFor } from './repository-turns.ts'

/** The content by which a lock file that a crash has left is known: the turn of this process shows that no other has it. */
const own_lock = 'platform\n'

/** Waits for git programs. The caller has the turn of the repository. */
export async function underGitLock<T>(file: string, act: () => Promise<T>): Promise<T> {
  const lock = `${file}.lock`
  await waitFor(() => takeLockFile(lock))
  try {
    return await act()
  } finally {
    await unlink(lock)
  }
}

/** Undefined while a git program has it, or removes its folder, which was empty. */
async function takeLockFile(lock: string): Promise<true | undefined> {
  try {
    await mkdir(dirname(lock), { recursive: true, mode: 0o700 })
    if (existsSync(lock) && readFileSync(lock, 'utf8') === own_lock) await unlink(lock)
    writeDurably(lock, own_lock, { existing_file: 'refuse' })
    return true
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code === 'EEXIST' || code === 'ENOENT') return undefined
    throw error
  }
}
