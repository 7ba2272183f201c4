// GitLab as a git host: the interfaces of files, branches, commits and their statuses (REST API v4).
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
import { describeAnswer, HostClient, type HostServer, readAnswer } from './host-client.ts'
import { type HostStatus, judgeStatuses } from './judge-statuses.ts'

const fileAnswer = z.object({ content: z.string(), encoding: z.literal('base64'), last_commit_id: z.string() })
const commitAnswer = z.object({ id: z.string() })
const statusesAnswer = z.array(
  z.object({
    status: z.string(),
    name: z.string(),
    description: z.string().nullish(),
    allow_failure: z.boolean().nullish(),
  }),
)

type GitlabOptions = Omit<HostServer, 'credentials'> & HostProject

export class GitlabHost implements GitHost {
  readonly kind = 'gitlab'
  readonly #client: HostClient
  readonly #root: string
  readonly #check: string | undefined

  constructor({ token, project, check, ...server }: GitlabOptions) {
    this.#client = new HostClient({ ...server, credentials: { 'private-token': token } })
    this.#root = `/api/v4/projects/${encodeURIComponent(project)}/repository`
    this.#check = check
  }

  async findHead(branch: string, signal?: AbortSignal): Promise<HostHead | undefined> {
    return await this.#client.get({ path: this.#branchPath(branch), signal }, branchAnswer)
  }

  /** Its version is the last commit that changed it. */
  async findFile(ref: string, path: string): Promise<HostFile | undefined> {
    const request = { path: `${this.#root}/files/${encodeURIComponent(path)}`, query: { ref } }
    const file = await this.#client.get(request, fileAnswer)
    return file && { text: Buffer.from(file.content, 'base64').toString(), version: file.last_commit_id }
  }

  async commit({ branch, from, changes, note }: HostCommit) {
    const { name: author_name, email: author_email } = toHostAuthor(note)
    const body = {
      ...{ branch, commit_message: note.summary, author_name, author_email, actions: changes.map(toAction) },
      ...(from === undefined ? {} : { start_branch: from }),
    }
    const answer = await this.#client.request({ method: 'POST', path: `${this.#root}/commits`, body })
    if (answer.status >= 300) return { refused: describeAnswer(answer) }
    return { commit: readAnswer(answer, commitAnswer).id }
  }

  async removeBranch(branch: string): Promise<void> {
    await this.#client.remove(this.#branchPath(branch))
  }

  /** By the newest status of each job. */
  async findCheck(commit: string): Promise<DagCheck> {
    const path = `${this.#root}/commits/${commit}/statuses`
    return await judgeStatuses(async (page) => {
      const query = { page: `${page}`, per_page: '100' }
      return ((await this.#client.get({ path, query }, statusesAnswer)) ?? []).map(toStatus)
    }, this.#check)
  }

  close(): void {
    this.#client.close()
  }

  #branchPath(branch: string): string {
    return `${this.#root}/branches/${encodeURIComponent(branch)}`
  }
}

const outcomes: Readonly<Record<string, HostStatus['outcome']>> = {
  ...{ success: 'success', failed: 'failure', canceled: 'failure', skipped: 'harmless' },
}

/** A job that may fail neither passes nor rejects a commit. */
function toStatus({ name, status, description, allow_failure }: z.infer<typeof statusesAnswer>[number]): HostStatus {
  const outcome = allow_failure ? 'harmless' : (outcomes[status] ?? 'waiting')
  return { name, outcome, description: description || status }
}

function toAction({ path: file_path, text, former }: HostChange) {
  const action = text === undefined ? 'delete' : former === undefined ? 'create' : 'update'
  return {
    ...{ action, file_path },
    ...(text === undefined ? {} : { content: Buffer.from(text).toString('base64'), encoding: 'base64' }),
    ...(former === undefined ? {} : { last_commit_id: former }),
  }
}
