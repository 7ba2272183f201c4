// Requests to the REST interface of a git host with the token of the site: bounded in time and size. The token is in no message.
import * as z from 'zod'
import { parseJson } from '../../../daemon/kernel/encoding/parse-json.ts'
import { Refusal } from '../../../daemon/kernel/error/errors.ts'
import { escapeLine } from '../../../daemon/kernel/text/escape-line.ts'
import { anyAddress } from '../../platform/address-rule/address-rule.ts'
import { HttpClient } from '../../platform/http-client/http-client.ts'
import { HttpClientError } from '../../platform/http-client/http-client-error.ts'

export type HostServer = {
  /** Without the path of the interface. */
  readonly base_url: string
  /** Authorities in PEM instead of the machine's. */
  readonly ca: string | undefined
  /** The header that has the token. */
  readonly credentials: Readonly<Record<string, string>>
  readonly timeout_ms: number
}

export type HostRequest = {
  readonly method: 'GET' | 'POST' | 'DELETE'
  /** With its parts encoded. */
  readonly path: string
  readonly query?: Readonly<Record<string, string>>
  readonly body?: unknown
  readonly signal?: AbortSignal | undefined
  /** Answers of this request that its caller reads, though they are an outage or a lack of rights otherwise. */
  readonly isRead?: (answer: HostAnswer) => boolean
}

export type HostAnswer = { readonly status: number; readonly body: unknown }

/** Room for the largest content (786 kB of UTF-8) in base64, beside the catalog. */
const max_answer_bytes = 2 * 1_048_576
const max_connections = 4
const longest_reason = 500

export class HostClient {
  readonly #server: HostServer
  readonly #http: HttpClient

  constructor(server: HostServer) {
    this.#server = server
    this.#http = new HttpClient({ rule: anyAddress, max_connections, ca: server.ca })
  }

  /** Throws for what is neither a success nor a refusal of this request. */
  async request({ method, path, query = {}, body, signal, isRead }: HostRequest): Promise<HostAnswer> {
    const { base_url, credentials, timeout_ms } = this.#server
    const url = new URL(`${base_url}${path}`)
    for (const [name, value] of Object.entries(query)) url.searchParams.set(name, value)
    const text = body === undefined ? undefined : JSON.stringify(body)
    try {
      const response = await this.#http.send(url, {
        ...{ method, body: text, signal, limits: { total_ms: timeout_ms } },
        headers: {
          ...credentials,
          accept: 'application/json',
          ...(text === undefined ? {} : { 'content-type': 'application/json' }),
        },
      })
      const bytes = await response.readBytes(max_answer_bytes)
      const answer = { status: response.status, body: bytes.length === 0 ? undefined : parseJson(bytes) }
      if (!isRead?.(answer)) throwOutage(answer)
      return answer
    } catch (error) {
      throw toOutage(error)
    }
  }

  /** Undefined for 404. */
  async get<T>(request: Omit<HostRequest, 'method'>, schema: z.ZodType<T>): Promise<T | undefined> {
    const answer = await this.request({ method: 'GET', ...request })
    return answer.status === 404 ? undefined : readAnswer(answer, schema)
  }

  /** Does nothing where there is none. */
  async remove(path: string): Promise<void> {
    const answer = await this.request({ method: 'DELETE', path })
    if (answer.status !== 404) readAnswer(answer, z.unknown())
  }

  close(): void {
    this.#http.close()
  }
}

export function readAnswer<T>(answer: HostAnswer, schema: z.ZodType<T>): T {
  if (answer.status >= 300) throw new Refusal('unavailable', `the git host refused: ${describeAnswer(answer)}`)
  const parsed = schema.safeParse(answer.body)
  if (parsed.success) return parsed.data
  const where = parsed.error.issues[0]?.path.join('.') || 'the document'
  throw new Refusal('unavailable', `the git host answered something else than its interface says: ${where}`)
}

const hostProblem = z.object({ message: z.unknown().optional(), error: z.unknown().optional() })

/** As one line, without what does not fit it. */
export function describeAnswer({ status, body }: HostAnswer): string {
  const { message, error } = hostProblem.safeParse(body).data ?? {}
  const said = message ?? error
  const text = typeof said === 'string' ? said : said === undefined ? '' : JSON.stringify(said)
  return `${status} ${escapeLine(text.slice(0, longest_reason).toWellFormed())}`.trimEnd()
}

function throwOutage(answer: HostAnswer): void {
  const { status } = answer
  if (status === 401 || status === 403)
    throw new Refusal('forbidden', `the git host does not accept the token of the site (DAG_REPO_TOKEN): ${status}`)
  if (status >= 500 || status === 429) throw new Refusal('unavailable', `the git host answered ${status}`)
  if (status >= 300 && status < 400)
    throw new Refusal('unavailable', 'the git host answered with a redirect: check dag_repo_url')
}

function toOutage(error: unknown): unknown {
  if (!(error instanceof HttpClientError)) return error
  const why: Partial<Record<HttpClientError['failure'], string>> = {
    timeout: 'it did not answer in time',
    aborted: 'the request was ended',
    too_large: 'its answer is too large',
  }
  return new Refusal(
    'unavailable',
    `the git host cannot be reached: ${why[error.failure] ?? error.code ?? error.failure}`,
  )
}

/** Each segment encoded, and the path kept. */
export function encodePath(path: string): string {
  return path.split('/').map(encodeURIComponent).join('/')
}
