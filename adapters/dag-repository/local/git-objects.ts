// Objects of a bare repository: the files of a commit, and commits that change some of them.
import { readBlob, readCommit, readTree, type TreeEntry, writeBlob, writeCommit, writeTree } from 'isomorphic-git'
import type { CommitNote } from '../../../daemon/shared/dag-repository/dag-repository.ts'
import { readBranch } from './branch-file.ts'
import { durableGitFiles, syncObjects } from './durable-git-files.ts'

/** New texts of files by their paths; undefined removes a file. */
export type FileChanges = ReadonlyMap<string, string | undefined>

export class GitObjects {
  readonly #at: { readonly fs: typeof durableGitFiles; readonly gitdir: string }

  constructor(gitdir: string) {
    this.#at = { fs: durableGitFiles, gitdir }
  }

  /** Undefined for a branch that there is not. */
  async findHead(branch: string): Promise<string | undefined> {
    return await readBranch(this.#at.gitdir, branch)
  }

  /** Undefined for a commit or a file that there is not. */
  async findText(commit: string, filepath: string): Promise<string | undefined> {
    const found = await orUndefined(readBlob({ ...this.#at, oid: commit, filepath }))
    return found && Buffer.from(found.blob).toString()
  }

  /** First line of the message of a commit. */
  async readSummary(commit: string): Promise<string> {
    const { message } = (await readCommit({ ...this.#at, oid: commit })).commit
    return message.split('\n', 1)[0] ?? ''
  }

  /** Returns the commit, whose objects are on disk; the parent itself where nothing changes. */
  async commit(parent: string | undefined, changes: FileChanges, note: CommitNote): Promise<string> {
    const before = parent && (await readCommit({ ...this.#at, oid: parent })).commit.tree
    const written: string[] = []
    const tree = (await this.#changeTree(before, splitPaths(changes), written)) ?? (await this.#write([], written))
    if (parent !== undefined && tree === before) return parent
    const person = {
      name: plainName(note.author),
      email: '',
      timestamp: Math.floor(note.now_ms / 1_000),
      timezoneOffset: 0,
    }
    const commit = await writeCommit({
      ...this.#at,
      commit: {
        ...{ tree, parent: parent === undefined ? [] : [parent], message: `${note.summary}\n` },
        ...{ author: person, committer: person },
      },
    })
    await syncObjects(this.#at.gitdir, [...written, commit])
    return commit
  }

  /** Undefined for a folder that is empty then: git has none. */
  async #changeTree(tree: string | undefined, changes: PathChanges, written: string[]): Promise<string | undefined> {
    const former = tree === undefined ? [] : (await readTree({ ...this.#at, oid: tree })).tree
    const entries = new Map(former.map((entry) => [entry.path, entry]))
    for (const [path, change] of changes) {
      const entry = await this.#changeEntry(path, entries.get(path), change, written)
      if (entry) entries.set(path, entry)
      else entries.delete(path)
    }
    return entries.size === 0 ? undefined : await this.#write([...entries.values()], written)
  }

  async #changeEntry(
    path: string,
    former: TreeEntry | undefined,
    change: PathChange,
    written: string[],
  ): Promise<TreeEntry | undefined> {
    if (change === undefined) return undefined
    if (typeof change === 'string') {
      const oid = await writeBlob({ ...this.#at, blob: Buffer.from(change) })
      written.push(oid)
      return { path, oid, mode: '100644', type: 'blob' }
    }
    const oid = await this.#changeTree(former?.type === 'tree' ? former.oid : undefined, change, written)
    return oid === undefined ? undefined : { path, oid, mode: '040000', type: 'tree' }
  }

  async #write(tree: TreeEntry[], written: string[]): Promise<string> {
    const oid = await writeTree({ ...this.#at, tree })
    written.push(oid)
    return oid
  }
}

/** A name in a commit: it ends before an address, and within its line. */
function plainName(name: string): string {
  return name.replaceAll(/[<>\p{Cc}]/gu, ' ').trim() || 'unknown'
}

type PathChange = string | undefined | PathChanges
interface PathChanges extends Map<string, PathChange> {}

/** Changes by the first segments of their paths. */
function splitPaths(changes: FileChanges): PathChanges {
  const root: PathChanges = new Map()
  for (const [path, text] of changes) {
    const segments = path.split('/')
    const name = segments.pop() as string
    let folder = root
    for (const segment of segments) {
      const next = folder.get(segment)
      const child: PathChanges = next instanceof Map ? next : new Map()
      folder.set(segment, child)
      folder = child
    }
    folder.set(name, text)
  }
  return root
}

async function orUndefined<T>(answer: Promise<T>): Promise<T | undefined> {
  return await answer.catch((error: { readonly code?: string }) => {
    if (error.code === 'NotFoundError') return undefined
    throw error
  })
}
