// Branches of a bare repository: files that change by a rename, under the lock files that git programs keep to, and those that git has
// packed into one file. The library looks into that file first, and writes it without its lock: a branch that git packs meanwhile
// would be an old one, or none.
import { mkdir, readFile, rm } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { refuse } from '../../../daemon/kernel/error/errors.ts'
import { syncFolder, syncFolderAsync } from '../../platform/durable-file/sync-folder.ts'
import { writeDurablyAsync } from '../../platform/durable-file/write-durably.ts'
import { underGitLock } from './git-lock.ts'

const commitId = /^[0-9a-f]{40}$/

/** The caller has the turn of the repository. */
export async function underBranchLock<T>(gitdir: string, branch: string, act: () => Promise<T>): Promise<T> {
  return await underGitLock(branchFile(gitdir, branch), act)
}

/** Undefined for a branch that there is not. Git removes the file of a branch once the packed one is on disk. */
export async function readBranch(gitdir: string, branch: string): Promise<string | undefined> {
  const own = (await readIfPresent(branchFile(gitdir, branch)))?.trim()
  const commit = own ?? (await readPacked(gitdir, branch))
  if (commit === undefined || commitId.test(commit)) return commit
  // Not as one that is absent: its history would begin again.
  throw refuse('wrong_state', `the branch ${branch} of the DAG repository names no commit`)
}

/** Under the lock of the branch. */
export async function setBranch(gitdir: string, branch: string, commit: string): Promise<void> {
  const file = branchFile(gitdir, branch)
  const heads = join(gitdir, 'refs', 'heads')
  await mkdir(dirname(file), { recursive: true, mode: 0o700 })
  for (let folder = dirname(file); folder !== heads; folder = dirname(folder)) syncFolder(dirname(folder))
  await writeDurablyAsync(file, `${commit}\n`)
}

/** Under the lock of the branch. Does nothing for a branch that there is not. */
export async function removeBranch(gitdir: string, branch: string): Promise<void> {
  const packed = join(gitdir, 'packed-refs')
  // Before its file: the packed one would count after a crash between both.
  await underGitLock(packed, async () => {
    const lines = (await readIfPresent(packed))?.split('\n') ?? []
    const kept = lines.filter((line) => !isOfBranch(line, branch))
    if (kept.length === lines.length) return
    // The draft has the name of that of git, which writes over one that a crash has left.
    await writeDurablyAsync(packed, kept.join('\n'), { draft: `${packed}.new`, existing_draft: 'overwrite' })
  })
  const file = branchFile(gitdir, branch)
  await rm(file, { force: true })
  await syncFolderAsync(dirname(file))
}

async function readPacked(gitdir: string, branch: string): Promise<string | undefined> {
  const text = await readIfPresent(join(gitdir, 'packed-refs'))
  const line = text?.split('\n').find((each) => isOfBranch(each, branch))
  return line?.slice(0, line.indexOf(' '))
}

/** A line has an id and the name of a reference. */
function isOfBranch(line: string, branch: string): boolean {
  return line.slice(line.indexOf(' ') + 1) === `refs/heads/${branch}`
}

/** A folder has the place of a branch whose name is the beginning of others. */
async function readIfPresent(file: string): Promise<string | undefined> {
  try {
    return await readFile(file, 'utf8')
  } catch (error) {
    const { code = '' } = error as NodeJS.ErrnoException
    if (['ENOENT', 'ENOTDIR', 'EISDIR'].includes(code)) return undefined
    throw error
  }
}

function branchFile(gitdir: string, branch: string): string {
  return join(gitdir, 'refs', 'heads', branch)
}
