// A small server of the documented REST interface of GitLab (v4) for one project: branches, files, commits and statuses. No GitLab
// can be installed from the registries; this one keeps to https://docs.gitlab.com/api/{branches,commits,repository_files}/.
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'

type StoredFile = { readonly text: string; readonly last_commit_id: string }
type StoredCommit = {
  readonly parent: string | undefined
  readonly message: string
  readonly files: ReadonlyMap<string, StoredFile>
}
type CommitAction = {
  readonly action: 'create' | 'update' | 'delete'
  readonly file_path: string
  readonly content?: string
  readonly last_commit_id?: string
}
type CommitRequest = {
  readonly branch: string
  readonly start_branch?: string
  readonly commit_message: string
  readonly actions: readonly CommitAction[]
}
type Answer = readonly [status: number, body?: unknown]

export class GitlabServer {
  readonly token = 'glpat-of-the-site'
  readonly project = 'group/team/dags'
  /** Answers 503 to everything. */
  isDown = false
  /** Sees each commit: its CI. */
  onCommit: (id: string) => void = () => undefined
  readonly #branches = new Map<string, string>()
  readonly #commits = new Map<string, StoredCommit>()
  readonly #statuses = new Map<string, Map<string, object>>()
  readonly #server = createServer(async (request, response) => {
    const [status, body] = await this.#answer(request)
    response
      .writeHead(status, { 'content-type': 'application/json' })
      .end(body === undefined ? '' : JSON.stringify(body))
  })

  async start(): Promise<void> {
    this.#branches.set('main', this.#store({ parent: undefined, message: 'Begin', files: new Map() }))
    await once(this.#server.listen(0, '127.0.0.1'), 'listening')
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`
  }

  async end(): Promise<void> {
    this.#server.closeAllConnections()
    await new Promise((resolve) => this.#server.close(resolve))
  }

  readLive(path: string): string | undefined {
    return this.#find('main')?.files.get(path)?.text
  }

  countCommits(): number {
    let count = 0
    for (let id = this.#branches.get('main'); id !== undefined; id = this.#commits.get(id)?.parent) count += 1
    return count
  }

  commitOutside(path: string, text: string): void {
    const actions = [{ action: 'create', file_path: path, content: toBase64(text) } as const]
    this.#commit({ branch: 'main', commit_message: 'Outside', actions })
  }

  hasBranch(name: string): boolean {
    return this.#branches.has(name)
  }

  removeBranch(name: string): void {
    this.#branches.delete(name)
  }

  /** The newest status of a job counts. */
  setStatus(commit: string, name: string, status: string, more: object = {}): void {
    const ofCommit = this.#statuses.get(commit) ?? new Map<string, object>()
    this.#statuses.set(commit, ofCommit.set(name, { id: 1, sha: commit, name, status, allow_failure: false, ...more }))
  }

  async #answer(request: IncomingMessage): Promise<Answer> {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk)
    if (this.isDown) return [503, { message: 'down for maintenance' }]
    if (request.headers['private-token'] !== this.token) return [401, { message: '401 Unauthorized' }]
    const { pathname, searchParams } = new URL(request.url ?? '/', 'http://gitlab')
    const [, id, noun, name = '', rest] =
      /^\/api\/v4\/projects\/([^/]+)\/repository\/([^/]+)(?:\/([^/]+))?(\/statuses)?$/.exec(pathname) ?? []
    if (decodeURIComponent(id ?? '') !== this.project) return [404, { message: '404 Project Not Found' }]
    const wanted = decodeURIComponent(name)
    switch (`${request.method} ${noun}${rest ?? ''}`) {
      case 'GET branches': {
        const head = this.#branches.get(wanted)
        if (!head) return [404, { message: '404 Branch Not Found' }]
        return [200, { name: wanted, commit: { id: head, message: this.#find(head)?.message } }]
      }
      case 'DELETE branches':
        return this.#branches.delete(wanted) ? [204] : [404, { message: '404 Branch Not Found' }]
      case 'GET files': {
        const file = this.#find(searchParams.get('ref') ?? '')?.files.get(wanted)
        if (!file) return [404, { message: '404 File Not Found' }]
        const { text, last_commit_id } = file
        return [200, { file_path: wanted, encoding: 'base64', content: toBase64(text), last_commit_id }]
      }
      case 'POST commits':
        return this.#commit(JSON.parse(Buffer.concat(chunks).toString()))
      case 'GET commits/statuses':
        return [200, this.#listStatuses(wanted, searchParams)]
      default:
        return [404, { error: '404 Not Found' }]
    }
  }

  #listStatuses(commit: string, query: URLSearchParams): object[] {
    const size = Number(query.get('per_page') ?? 20)
    const from = (Number(query.get('page') ?? 1) - 1) * size
    return [...(this.#statuses.get(commit)?.values() ?? [])].slice(from, from + size)
  }

  #find(ref: string): StoredCommit | undefined {
    return this.#commits.get(this.#branches.get(ref) ?? ref)
  }

  #commit({ branch, start_branch, commit_message: message, actions }: CommitRequest): Answer {
    if (start_branch !== undefined && this.#branches.has(branch))
      return [
        400,
        { message: `A branch called '${branch}' already exists. Switch to that branch in order to make changes` },
      ]
    const parent = this.#branches.get(start_branch ?? branch)
    const before = parent === undefined ? undefined : this.#commits.get(parent)
    if (!before) return [400, { message: 'You can only create or edit files when you are on a branch' }]
    const id = this.#store({ parent, message, files: before.files })
    const files = new Map(before.files)
    for (const { action, file_path, content = '', last_commit_id } of actions) {
      const former = files.get(file_path)
      if (action === 'create' && former) return [400, { message: 'A file with this name already exists' }]
      if (action !== 'create' && !former) return [400, { message: "A file with this name doesn't exist" }]
      if (former && last_commit_id !== undefined && former.last_commit_id !== last_commit_id)
        return [
          400,
          { message: `You are attempting to ${action} a file that has been updated since you started editing it.` },
        ]
      if (action === 'delete') files.delete(file_path)
      else files.set(file_path, { text: Buffer.from(content, 'base64').toString(), last_commit_id: id })
    }
    this.#commits.set(id, { parent, message, files })
    this.#branches.set(branch, id)
    this.onCommit(id)
    return [201, { id, parent_ids: [parent] }]
  }

  #store(commit: StoredCommit): string {
    const id = createHash('sha1').update(`commit ${this.#commits.size}`).digest('hex')
    this.#commits.set(id, commit)
    return id
  }
}

function toBase64(text: string): string {
  return Buffer.from(text).toString('base64')
}
