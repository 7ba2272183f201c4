// Requests to Airflow's REST interface with the token of one caller: bounded in time and size, repeated only where that is safe.
import { setTimeout } from 'node:timers/promises'
import type * as z from 'zod'
import { parseJson } from '../../../daemon/kernel/encoding/parse-json.ts'
import { isRefusal, Refusal, refuse } from '../../../daemon/kernel/error/errors.ts'
import type { Call } from '../../../daemon/kernel/operation/call.ts'
import { anyAddress } from '../../platform/address-rule/address-rule.ts'
import { HttpClient } from '../../platform/http-client/http-client.ts'
import { HttpClientError } from '../../platform/http-client/http-client-error.ts'
import type { HttpResponse } from '../../platform/http-client/http-response.ts'

export type AirflowServer = {
  /** Without the path of the interface. */
  readonly base_url: string
  /** False: any certificate; a text: authorities in PEM. */
  readonly verify: boolean | string
  /** As `identity.audiences` names it: for whom the tokens are. */
  readonly audience: string
  readonly timeout_ms: number
}

export type AirflowRequest = {
  readonly method: 'GET' | 'POST' | 'PATCH' | 'DELETE'
  /** Below the interface, with its parts encoded. */
  readonly path: string
  readonly query?: Readonly<Record<string, string | number | boolean | undefined>>
  readonly body?: unknown
  /** In the body, and in no refusal. */
  readonly secret?: string | undefined
}

/**
 * The parts are encoded. Throws `not_found` for a name that leads elsewhere: dots are steps of a path also where they are
 * encoded, and `~` means every object.
 */
export function interfacePath(version: string, ...parts: readonly string[]): string {
  if (parts.some((part) => part === '' || part === '.' || part === '..' || part === '~'))
    throw new Refusal('not_found', 'no DAG, run or task has such a name')
  return `/api/${version}/${parts.map(encodeURIComponent).join('/')}`
}

const max_answer_bytes = 8 * 1_048_576
const max_connections = 8
const max_tries = 3
const first_wait_ms = 200
/** It, or a gateway in front of it, has no room now; 500 where its database is locked. */
const passing: readonly number[] = [429, 500, 502, 503, 504]

/** How a request ended. */
export type AirflowAnswer = { readonly status: number; readonly body: unknown }

export class AirflowClient {
  readonly #server: AirflowServer
  readonly #http: HttpClient

  constructor(server: AirflowServer) {
    this.#server = server
    const { verify } = server
    this.#http = new HttpClient({
      ...{ rule: anyAddress, max_connections },
      ...(typeof verify === 'string' ? { ca: verify } : { isVerified: verify }),
    })
  }

  /** Without a token: health alone needs none. */
  async getOpenly<T>(path: string, schema: z.ZodType<T>, signal: AbortSignal): Promise<T> {
    const response = await this.#send({ method: 'GET', path }, {}, signal)
    return parseAnswer(schema, await readAnswer(response))
  }

  /** Returns undefined for 404, and the refusal of Airflow for what it does not accept. Throws `forbidden` and `unavailable`. */
  async request(call: Call, request: AirflowRequest): Promise<AirflowAnswer | Refusal | undefined> {
    const answer = await readAnswer(await this.#sendFor(call, request, 'application/json'))
    if (answer.status === 404) return undefined
    if (answer.status < 300) return answer
    throwOutage(answer.status)
    return refuse(
      answer.status === 409 ? 'wrong_state' : 'invalid',
      `Airflow refused: ${describeProblem(answer, request.secret)}`,
    )
  }

  async get<T>(call: Call, request: Omit<AirflowRequest, 'method'>, schema: z.ZodType<T>): Promise<T | undefined> {
    const answer = await this.request(call, { method: 'GET', ...request })
    if (isRefusal(answer)) throw answer
    return answer && parseAnswer(schema, answer)
  }

  /** The last bytes of a text; undefined for 404. */
  async getTail(
    call: Call,
    request: Omit<AirflowRequest, 'method'> & { readonly accept: string },
    limits: { readonly kept_bytes: number; readonly read_bytes: number },
  ): Promise<Buffer | undefined> {
    const response = await this.#sendFor(call, { method: 'GET', ...request }, request.accept)
    if (response.status === 404) {
      response.destroy()
      return undefined
    }
    if (response.status >= 300) {
      const answer = await readAnswer(response)
      throwOutage(answer.status)
      throw new Refusal('unavailable', `Airflow refused a log: ${describeProblem(answer)}`)
    }
    try {
      return await readTail(response, limits)
    } catch (error) {
      throw toOutage(error)
    }
  }

  close(): void {
    this.#http.close()
  }

  /** The token is requested for each request, and kept nowhere. */
  async #sendFor(call: Call, request: AirflowRequest, accept: string): Promise<HttpResponse> {
    const token = await call.delegation().token({ service: this.#server.audience })
    if (isRefusal(token)) throw token
    return await this.#send(request, { authorization: `Bearer ${token.token}`, accept }, call.signal)
  }

  /** A request that reads is repeated: nothing else, since the answer to a change may be all that was lost. */
  async #send(
    request: AirflowRequest,
    headers: Readonly<Record<string, string>>,
    signal: AbortSignal,
  ): Promise<HttpResponse> {
    const { method, path, query = {}, body } = request
    const url = new URL(`${this.#server.base_url}${path}`)
    for (const [name, value] of Object.entries(query))
      if (value !== undefined) url.searchParams.set(name, String(value))
    const text = body === undefined ? undefined : JSON.stringify(body)
    const latest_ms = performance.now() + this.#server.timeout_ms
    for (let attempt = 1; ; attempt++) {
      const total_ms = Math.max(1, latest_ms - performance.now())
      const isLast = method !== 'GET' || attempt === max_tries
      try {
        const response = await this.#http.send(url, {
          ...{ method, body: text, signal, limits: { total_ms } },
          headers: text === undefined ? headers : { ...headers, 'content-type': 'application/json' },
        })
        if (isLast || !passing.includes(response.status)) return response
        response.destroy()
      } catch (error) {
        if (isLast || signal.aborted || performance.now() >= latest_ms) throw toOutage(error)
      }
      await setTimeout(first_wait_ms * 2 ** (attempt - 1), undefined, { signal }).catch(() => undefined)
    }
  }
}

async function readAnswer(response: HttpResponse): Promise<AirflowAnswer> {
  try {
    const bytes = await response.readBytes(max_answer_bytes)
    return { status: response.status, body: bytes.length === 0 ? undefined : parseJson(bytes) }
  } catch (error) {
    throw toOutage(error)
  }
}

async function readTail(
  response: HttpResponse,
  { kept_bytes, read_bytes }: { kept_bytes: number; read_bytes: number },
) {
  let kept: Buffer[] = []
  let length = 0
  let read = 0
  for await (const chunk of response.chunks()) {
    read += chunk.length
    length += chunk.length
    kept.push(chunk)
    if (length > 4 * kept_bytes) {
      const tail = Buffer.concat(kept).subarray(-kept_bytes)
      kept = [Buffer.from(tail)]
      length = tail.length
    }
    if (read > read_bytes) break
  }
  return Buffer.concat(kept).subarray(-kept_bytes)
}

function parseAnswer<T>(schema: z.ZodType<T>, { status, body }: AirflowAnswer): T {
  const parsed = schema.safeParse(body)
  if (status < 300 && parsed.success) return parsed.data
  throwOutage(status)
  const [issue] = parsed.error?.issues ?? []
  const where = issue?.path.join('.') || 'the document'
  throw new Refusal('unavailable', `Airflow answered something else than its interface says: ${where}`)
}

function throwOutage(status: number): void {
  if (status === 401)
    throw new Refusal('forbidden', 'Airflow does not accept the token of the caller: check its issuer and audience')
  if (status === 403) throw new Refusal('forbidden', 'Airflow does not permit this to the caller')
  if (status >= 500 || status === 429) throw new Refusal('unavailable', `Airflow answered ${status}`)
  if (status >= 300 && status < 400)
    throw new Refusal('unavailable', 'Airflow answered with a redirect: check workflow_base_url')
}

const longest_problem = 500

/** RFC 9457 (v1), a text or a list of faults (v2): without what does not fit one line, and without a text that has any of the secret. */
function describeProblem({ status, body }: AirflowAnswer, secret?: string): string {
  const { detail, title } = (typeof body === 'object' && body !== null ? body : {}) as Record<string, unknown>
  const text = typeof detail === 'string' ? detail : Array.isArray(detail) ? describeFaults(detail) : title
  if (typeof text !== 'string' || listSecretTexts(secret).some((part) => text.includes(part))) return `${status}`
  return `${status} ${text.slice(0, longest_problem).toWellFormed().replaceAll(/\s+/g, ' ')}`.trimEnd()
}

/** Each has the value that it is about as well, or all of what was sent, which may be secret. */
function describeFaults(faults: readonly unknown[]): string {
  const described = faults.slice(0, 20).map((fault) => {
    const { loc, msg } = (typeof fault === 'object' && fault !== null ? fault : {}) as Record<string, unknown>
    return `${Array.isArray(loc) ? loc.join('.') : 'the request'}: ${typeof msg === 'string' ? msg : 'is refused'}`
  })
  return described.join('; ')
}

/** The secret, and each value of its JSON: any of them may be repeated alone. */
function listSecretTexts(secret: string | undefined): string[] {
  if (secret === undefined) return []
  const values = parseJson(secret)
  return [secret, ...Object.values(typeof values === 'object' && values !== null ? values : {})].filter(
    (part) => typeof part === 'string' && part !== '',
  )
}

function toOutage(error: unknown): unknown {
  if (!(error instanceof HttpClientError)) return error
  const why: Partial<Record<HttpClientError['failure'], string>> = {
    timeout: 'it did not answer in time',
    aborted: 'the request was ended',
    too_large: 'its answer is too large',
  }
  return new Refusal('unavailable', `Airflow cannot be reached: ${why[error.failure] ?? error.code ?? error.failure}`)
}
