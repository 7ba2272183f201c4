// Gitea and Forgejo as a git host: the interfaces of contents, branches and commit statuses (API v1).
import * as z from 'zod'
import type { DagCheck } from '../../../daemon/shared/dag-repository/dag-repository.ts'
import {
  branchAnswer,
  type GitHost,
  type HostChange,
  type HostCommit,
  type HostFile,
  type HostHead,
  type HostProject,
} from './git-host.ts'
import { toHostAuthor } from './host-author.ts'
import { describeAnswer, encodePath, type HostAnswer, HostClient, type HostServer, readAnswer } from './host-client.ts'
import { type HostStatus, judgeStatuses } from './judge-statuses.ts'

const fileAnswer = z.object({
  type: z.literal('file'),
  sha: z.string(),
  content: z.string(),
  encoding: z.literal('base64'),
})
const commitAnswer = z.object({ commit: z.object({ sha: z.string() }) })
/** Without a status some releases answer with nothing. */
const statusAnswer = z
  .object({
    statuses: z
      .array(z.object({ status: z.string(), context: z.string().catch(''), description: z.string().catch('') }))
      .nullish(),
  })
  .optional()

type GiteaOptions = Omit<HostServer, 'credentials'> & HostProject

export class GiteaHost implements GitHost {
  readonly kind = 'gitea'
  readonly #client: HostClient
  readonly #root: string
  readonly #check: string | undefined

  constructor({ token, project, check, ...server }: GiteaOptions) {
    this.#client = new HostClient({ ...server, credentials: { authorization: `token ${token}` } })
    this.#root = `/api/v1/repos/${encodePath(project)}`
    this.#check = check
  }

  async findHead(branch: string, signal?: AbortSignal): Promise<HostHead | undefined> {
    return await this.#client.get({ path: this.#branchPath(branch), signal }, branchAnswer)
  }

  async findFile(ref: string, path: string): Promise<HostFile | undefined> {
    const request = { path: `${this.#root}/contents/${encodePath(path)}`, query: { ref } }
    const file = await this.#client.get(request, fileAnswer)
    return file && { text: Buffer.from(file.content, 'base64').toString(), version: file.sha }
  }

  async commit({ branch, from, changes, note }: HostCommit) {
    const author = toHostAuthor(note)
    const body = {
      ...(from === undefined ? { branch } : { branch: from, new_branch: branch }),
      ...{ message: note.summary, author, committer: author, files: changes.map(toOperation) },
    }
    const answer = await this.#client.request({
      method: 'POST',
      path: `${this.#root}/contents`,
      body,
      isRead: isTooLate,
    })
    if (answer.status >= 300) return { refused: describeAnswer(answer) }
    return { commit: readAnswer(answer, commitAnswer).commit.sha }
  }

  async removeBranch(branch: string): Promise<void> {
    await this.#client.remove(this.#branchPath(branch))
  }

  /** By the newest status of each context. */
  async findCheck(commit: string): Promise<DagCheck> {
    const path = `${this.#root}/commits/${commit}/status`
    return await judgeStatuses(async (page) => {
      const query = { page: `${page}`, limit: '50' }
      return ((await this.#client.get({ path, query }, statusAnswer))?.statuses ?? []).map(toStatus)
    }, this.#check)
  }

  close(): void {
    this.#client.close()
  }

  #branchPath(branch: string): string {
    return `${this.#root}/branches/${encodePath(branch)}`
  }
}

/**
 * Of a commit that came too late for its branch: it answers 403 or 500, by the moment. A 500 has no text but for administrators: its
 * commit is tried again, and refused as an outage in the end.
 */
function isTooLate(answer: HostAnswer): boolean {
  return /^(403|500) .*(cannot lock ref|PushOutOfDate|non-fast-forward)|^500$/.test(describeAnswer(answer))
}

const outcomes: Readonly<Record<string, HostStatus['outcome']>> = {
  ...{ success: 'success', failure: 'failure', error: 'failure', warning: 'harmless', skipped: 'harmless' },
}

function toStatus(given: { readonly status: string; readonly context: string; readonly description: string }) {
  const { status, context: name, description } = given
  return { name, outcome: outcomes[status] ?? 'waiting', description: description || status }
}

function toOperation({ path, text, former }: HostChange) {
  const operation = text === undefined ? 'delete' : former === undefined ? 'create' : 'update'
  return {
    ...{ operation, path },
    ...(text === undefined ? {} : { content: Buffer.from(text).toString('base64') }),
    ...(former === undefined ? {} : { sha: former }),
  }
}
