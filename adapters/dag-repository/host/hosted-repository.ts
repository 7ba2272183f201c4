// A DAG repository at a git host: its CI is the check. A change names the content that it replaces, so that the host refuses one
// that came too late; it is then made again from what is there.
import { setTimeout } from 'node:timers/promises'
import { Refusal, refuse } from '../../../daemon/kernel/error/errors.ts'
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
import type { GitHost, HostChange } from './git-host.ts'

const max_tries = 20
const [first_wait_ms, longest_wait_ms] = [100, 1_000]

export class HostedRepository implements DagRepository {
  readonly kind: GitHost['kind']
  readonly #host: GitHost
  readonly #layout: RepositoryLayout
  #last: Promise<unknown> = Promise.resolve()

  constructor(host: GitHost, layout: RepositoryLayout) {
    this.kind = host.kind
    this.#host = host
    this.#layout = layout
  }

  /**
   * Found again by its summary: the same content with another one is another commit, for another run of the CI. A file of the
   * DAG in another language is removed: the CI would see both.
   */
  async propose({ uid, name, text }: DagFile, note: CommitNote): Promise<string> {
    const branch = pendingBranch(uid)
    const others = otherNamesOf(name).map((other) => [this.#pendingPath(other), undefined] as const)
    return await this.#untilAccepted(async () => {
      const head = await this.#host.findHead(branch)
      const base = head?.commit ?? (await this.#requireLiveHead())
      const former = await this.#host.findFile(base, this.#pendingPath(name))
      if (head?.summary === note.summary && former?.text === text) return { commit: head.commit }
      const changes = await this.#findChanges(base, others)
      changes.push({ path: this.#pendingPath(name), text, former: former?.version })
      return await this.#host.commit({ branch, ...(head ? {} : { from: this.#layout.branch }), changes, note })
    })
  }

  async check({ commit }: DagProposal): Promise<DagCheck> {
    return await this.#host.findCheck(commit)
  }

  async publish(proposal: DagProposal, catalog: string, note: CommitNote): Promise<string | 'superseded'> {
    const { uid, name, commit } = proposal
    const proposed = await this.#host.findFile(commit, this.#pendingPath(name))
    if (!proposed) return 'superseded'
    const { text } = proposed
    const texts = new Map<string, string | undefined>([
      ...otherNamesOf(name).map((other) => [this.#livePath(other), undefined] as const),
      [this.#livePath(name), text],
      [this.#layout.catalog_path, catalog],
    ])
    const published = await this.#commitLive(texts, note, () => this.#isPending(proposal))
    if (published === undefined) {
      const live = await this.read(name)
      return live?.text === text ? live.commit : 'superseded'
    }
    // A content that is proposed between both of these is proposed again, since its publication finds no branch.
    if (await this.#isPending(proposal)) await this.#host.removeBranch(pendingBranch(uid))
    return published
  }

  async remove(uid: string, names: readonly string[], note: CommitNote): Promise<void> {
    // The pending content first: a late process publishes nothing then.
    await this.#host.removeBranch(pendingBranch(uid))
    const texts = new Map(names.map((name) => [this.#livePath(name), undefined] as const))
    await this.#commitLive(texts, note, async () => true)
  }

  /** The head is looked for in any case: a token without rights to the project finds no former commit either. */
  async read(name: string, former?: string): Promise<LiveDag | undefined> {
    const head = await this.#requireLiveHead()
    const commit = former ?? head
    const file = await this.#host.findFile(commit, this.#livePath(name))
    return file && { text: file.text, commit }
  }

  async probe(signal: AbortSignal): Promise<void> {
    await this.#requireLiveHead(signal)
  }

  close(): void {
    this.#host.close()
  }

  async #isPending({ uid, commit }: DagProposal): Promise<boolean> {
    return (await this.#host.findHead(pendingBranch(uid)))?.commit === commit
  }

  /** One after the other in this process: those of others come between at times. Undefined where `isWanted` says no. */
  async #commitLive(
    texts: ReadonlyMap<string, string | undefined>,
    note: CommitNote,
    isWanted: () => Promise<boolean>,
  ): Promise<string | undefined> {
    const turn = this.#last.then(() => this.#tryCommits(texts, note, isWanted))
    this.#last = turn.catch(() => undefined)
    return await turn
  }

  /**
   * Each attempt looks whether it is wanted after it has read the files: the host then refuses what was decided before another content
   * became live.
   */
  async #tryCommits(
    texts: ReadonlyMap<string, string | undefined>,
    note: CommitNote,
    isWanted: () => Promise<boolean>,
  ): Promise<string | undefined> {
    return await this.#untilAccepted(async () => {
      const head = await this.#requireLiveHead()
      const changes = await this.#findChanges(head, texts)
      if (!(await isWanted())) return { commit: undefined }
      if (changes.length === 0) return { commit: head }
      return await this.#host.commit({ branch: this.#layout.branch, changes, note })
    })
  }

  /** The changes that a commit lacks. */
  async #findChanges(
    commit: string,
    texts: Iterable<readonly [path: string, text: string | undefined]>,
  ): Promise<HostChange[]> {
    const changes: HostChange[] = []
    for (const [path, text] of texts) {
      const former = await this.#host.findFile(commit, path)
      if (former?.text !== text) changes.push({ path, text, former: former?.version })
    }
    return changes
  }

  /** A token without rights to the project finds no branch either. */
  async #requireLiveHead(signal?: AbortSignal): Promise<string> {
    const { branch } = this.#layout
    const head = await this.#host.findHead(branch, signal)
    if (head !== undefined) return head.commit
    throw refuse(
      'wrong_state',
      `the git host shows no branch ${branch} in the project to the token of the site: create it`,
    )
  }

  async #untilAccepted<T>(attempt: () => Promise<{ readonly commit: T } | { readonly refused: string }>): Promise<T> {
    for (let tried = 1; ; tried++) {
      const answer = await attempt()
      if ('commit' in answer) return answer.commit
      if (tried === max_tries) throw new Refusal('unavailable', `the git host refused the commit: ${answer.refused}`)
      await setTimeout(Math.min(longest_wait_ms, first_wait_ms * tried) * (1 + Math.random()))
    }
  }

  #pendingPath(name: string): string {
    return `${this.#layout.pending_path}/${name}`
  }

  #livePath(name: string): string {
    return livePath(this.#layout, name)
  }
}
