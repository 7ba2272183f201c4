// A DAG repository in a bare git repository on this machine, which any git program can read; its check is one of this process.
import { existsSync } from 'node:fs'
import { mkdir, rename, rm } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { init, setConfig } from 'isomorphic-git'
import { otherNamesOf } from '../../../daemon/shared/dag-repository/dag-file-name.ts'
import type {
  CommitNote,
  DagCheck,
  DagFile,
  DagProposal,
  DagRepository,
  LiveDag,
} from '../../../daemon/shared/dag-repository/dag-repository.ts'
import {
  livePath,
  pendingBranch,
  type RepositoryLayout,
} from '../../../daemon/shared/dag-repository/repository-layout.ts'
import { syncFolderAsync } from '../../platform/durable-file/sync-folder.ts'
import { removeBranch, setBranch, underBranchLock } from './branch-file.ts'
import { durableGitFiles } from './durable-git-files.ts'
import { type FileChanges, GitObjects } from './git-objects.ts'
import { RepositoryTurns, type TakeRepositoryLock } from './repository-turns.ts'

export type LocalRepositoryOptions = {
  /** The bare repository, which is made at its first use. */
  readonly gitdir: string
  readonly layout: RepositoryLayout
  readonly takeLock: TakeRepositoryLock
  /** Checks the file of a commit. */
  readonly check: (file: Omit<DagFile, 'uid'>) => Promise<DagCheck>
}

export class LocalRepository implements Omit<DagRepository, 'probe' | 'close'> {
  readonly kind = 'local'
  readonly #options: LocalRepositoryOptions
  readonly #turns: RepositoryTurns
  readonly #objects: GitObjects

  constructor(options: LocalRepositoryOptions) {
    this.#options = options
    this.#turns = new RepositoryTurns(options.takeLock)
    this.#objects = new GitObjects(options.gitdir)
  }

  async propose({ uid, name, text }: DagFile, note: CommitNote): Promise<string> {
    const { gitdir, layout } = this.#options
    const branch = pendingBranch(uid)
    return await this.#changeBranch(branch, async () => {
      const pending = await this.#objects.findHead(branch)
      if (pending && (await this.#isProposal(pending, name, text, note))) return pending
      const live = await this.#objects.findHead(layout.branch)
      const commit = await this.#objects.commit(live, new Map([[this.#pendingPath(name), text]]), note)
      await setBranch(gitdir, branch, commit)
      return commit
    })
  }

  async #isProposal(commit: string, name: string, text: string, { summary }: CommitNote): Promise<boolean> {
    const found = await this.#objects.findText(commit, this.#pendingPath(name))
    return found === text && (await this.#objects.readSummary(commit)) === summary
  }

  async check({ name, commit }: DagProposal): Promise<DagCheck> {
    const text = await this.#objects.findText(commit, this.#pendingPath(name))
    if (text === undefined) return { state: 'rejected', reason: 'the commit has no such file at the pending path' }
    return await this.#options.check({ name, text })
  }

  async publish({ uid, name, commit }: DagProposal, catalog: string, note: CommitNote): Promise<string | 'superseded'> {
    const { gitdir, layout } = this.#options
    const branch = pendingBranch(uid)
    return await this.#changeBranch(branch, async () => {
      const text = await this.#objects.findText(commit, this.#pendingPath(name))
      if (text === undefined) return 'superseded'
      const isPending = (await this.#objects.findHead(branch)) === commit
      if (!isPending) return (await this.#findLive(name, text)) ?? 'superseded'
      const files: FileChanges = new Map([
        ...otherNamesOf(name).map((other) => [this.#livePath(other), undefined] as const),
        [this.#livePath(name), text],
        [layout.catalog_path, catalog],
      ])
      const published = await underBranchLock(gitdir, layout.branch, () => this.#commitLive(files, note))
      await removeBranch(gitdir, branch)
      return published
    })
  }

  async remove(uid: string, names: readonly string[], note: CommitNote): Promise<void> {
    const { gitdir, layout } = this.#options
    const branch = pendingBranch(uid)
    await this.#changeBranch(branch, async () => {
      await underBranchLock(gitdir, layout.branch, async () => {
        if (await this.#objects.findHead(layout.branch))
          await this.#commitLive(new Map(names.map((name) => [this.#livePath(name), undefined])), note)
      })
      await removeBranch(gitdir, branch)
    })
  }

  async read(name: string, former?: string): Promise<LiveDag | undefined> {
    const commit = former ?? (await this.#objects.findHead(this.#options.layout.branch))
    const text = commit && (await this.#objects.findText(commit, this.#livePath(name)))
    return commit === undefined || text === undefined ? undefined : { text, commit }
  }

  async #findLive(name: string, text: string): Promise<string | undefined> {
    const live = await this.read(name)
    return live?.text === text ? live.commit : undefined
  }

  /** Under the lock of the live branch. */
  async #commitLive(changes: FileChanges, note: CommitNote): Promise<string> {
    const { gitdir, layout } = this.#options
    const head = await this.#objects.findHead(layout.branch)
    const commit = await this.#objects.commit(head, changes, note)
    if (commit !== head) await setBranch(gitdir, layout.branch, commit)
    return commit
  }

  /** Under the lock of git programs too, so that the commit of one that pushes meanwhile is not lost. */
  async #changeBranch<T>(branch: string, act: () => Promise<T>): Promise<T> {
    const { gitdir } = this.#options
    return await this.#turns.run(async () => {
      if (!existsSync(gitdir)) await createRepository(this.#options)
      return await underBranchLock(gitdir, branch, act)
    })
  }

  #pendingPath(name: string): string {
    return `${this.#options.layout.pending_path}/${name}`
  }

  #livePath(name: string): string {
    return livePath(this.#options.layout, name)
  }
}

/** It appears whole: a draft that a crash has left is made again. */
async function createRepository({ gitdir, layout }: LocalRepositoryOptions): Promise<void> {
  const draft = join(dirname(gitdir), `.${basename(gitdir)}.draft`)
  await rm(draft, { recursive: true, force: true })
  await mkdir(draft, { recursive: true, mode: 0o700 })
  const at = { fs: durableGitFiles, gitdir: draft }
  await init({ ...at, bare: true, defaultBranch: layout.branch })
  // A push would begin one, which removes objects and folders under the hands of this process.
  await setConfig({ ...at, path: 'gc.auto', value: 0 })
  await rename(draft, gitdir)
  await syncFolderAsync(dirname(gitdir))
}
