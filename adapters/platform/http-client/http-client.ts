// The HTTP client of the site's own requests: bounded in time and size, without redirects, and without the proxies that
// environment variables name.
import { randomBytes } from 'node:crypto'
import type { PeerCertificate } from 'node:tls'
import type { Agent, Dispatcher } from 'undici'
import { newTrace, traceHeaders } from '../../../daemon/kernel/telemetry/trace.ts'
import type { AddressRule } from '../address-rule/address-rule.ts'
import {
  type AddressDeniedError,
  type AddressResolver,
  checkedLookup,
  findLiteralDenial,
  systemResolver,
} from '../address-rule/checked-lookup.ts'
import { user_agent } from '../product/product.ts'
import { HttpClientError, toHttpClientError } from './http-client-error.ts'
import { HttpResponse } from './http-response.ts'

/** Each client says where it may connect to: there is no default, so that nobody forgets who names the URL. */
export type HttpDestination = CheckedDestination | { readonly socket_path: string }

/**
 * The addresses that the rule permits, at each connection: literal ones, and all those of a name as it resolves then.
 * `anyAddress` only where the operator names the URL. `resolve`: the system's, outside tests.
 */
export type CheckedDestination = { readonly rule: AddressRule; readonly resolve?: AddressResolver | undefined }

export type HttpClientOptions = HttpDestination & {
  /** Authorities in PEM instead of the machine's. */
  readonly ca?: string | Buffer | undefined
  /** False accepts any certificate (default: true). */
  readonly isVerified?: boolean
  /** Most connections to one origin, which are kept for later requests (default: one for each request, not kept). */
  readonly max_connections?: number
  /** To connect, TLS included. */
  readonly connect_timeout_ms?: number | undefined
  /** Absent: the client shows no certificate, and the server needs one for its host name. */
  readonly mutual?: MutualTls | undefined
}

/** TLS 1.3 alone, where both ends show their certificates at each connection. */
export type MutualTls = {
  /** PEM. */
  readonly cert: string
  readonly key: string
  /** Why the certificate of the server, whose chain TLS has verified, is not accepted. */
  readonly findServerFault: (host: string, certificate: PeerCertificate) => Error | undefined
}

export type HttpRequest = {
  readonly method: string
  /** Path and query, sent as they are, instead of those of the URL. */
  readonly path?: string
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string | Buffer | undefined
  readonly signal?: AbortSignal | undefined
  readonly limits: HttpTimeLimits
}

/** A limit that is left out does not apply. */
export type HttpTimeLimits = {
  /** From the call to the end of the body. */
  readonly total_ms?: number | undefined
  /** From the call to the response head. */
  readonly head_ms?: number | undefined
  /** Without a byte of the response; late by up to a second. */
  readonly idle_ms?: number | undefined
}

export class HttpClient {
  readonly #options: HttpClientOptions
  #agent: Agent | undefined

  constructor(options: HttpClientOptions) {
    this.#options = options
  }

  /** Resolves with the response head. Throws HttpClientError. */
  async send(url: URL | string, { method, path, headers, body, signal, limits }: HttpRequest): Promise<HttpResponse> {
    loadedUndici ??= loadUndici()
    const { Agent, request } = await loadedUndici
    this.#agent ??= new Agent(agentOptions(this.#options))
    const { origin, hostname, pathname, search, username, password } = new URL(url)
    const denial = findHostDenial(this.#options, hostname)
    if (denial) throw toHttpClientError(denial, 'unreachable')
    const time = startLimits(signal, limits)
    const idle_ms = limits.idle_ms ?? 0
    try {
      const response = await request.call(this.#agent, {
        origin,
        path: path ?? pathname + search,
        method: method as Dispatcher.HttpMethod,
        headers: {
          'user-agent': user_agent,
          ...basicCredentials(username, password),
          ...beginTrace(this.#options, headers),
          ...headers,
        },
        body: body ?? null,
        signal: time.signal,
        headersTimeout: idle_ms,
        bodyTimeout: idle_ms,
      })
      time.onHead()
      response.body.once('close', time.onEnd)
      return new HttpResponse(response.statusCode, response.headers, response.body)
    } catch (error) {
      time.onEnd()
      throw toHttpClientError(error, 'unreachable')
    }
  }

  /** Takes no further request; the connections end with those that are under way. */
  retire(): void {
    void this.#agent?.close()
    this.#agent = undefined
  }

  /** Ends all connections, those in use included. */
  close(): void {
    void this.#agent?.destroy()
    this.#agent = undefined
  }
}

type LoadedUndici = { readonly Agent: typeof Agent; readonly request: Dispatcher['request'] }
let loadedUndici: Promise<LoadedUndici> | undefined

/** The files of undici that a request needs: the whole package would cost 8 MB more, and more time at the first request. */
async function loadUndici(): Promise<LoadedUndici> {
  const [agent, request] = await Promise.all([
    // @ts-expect-error The package has types for its entry alone.
    import('undici/lib/dispatcher/agent.js'),
    // @ts-expect-error The same.
    import('undici/lib/api/api-request.js'),
  ])
  return { Agent: agent.default, request: request.default }
}

function agentOptions(options: HttpClientOptions): Agent.Options {
  const { ca, isVerified = true, max_connections, connect_timeout_ms = 0, mutual } = options
  return {
    // Without pipelining, a connection is closed after its first response.
    ...(max_connections === undefined ? { pipelining: 0 } : { connections: max_connections }),
    connect: {
      rejectUnauthorized: isVerified,
      timeout: connect_timeout_ms,
      ...(ca === undefined ? {} : { ca }),
      ...(mutual ? mutualOptions(mutual) : {}),
      ...connectOptions(options),
    },
  }
}

/** A resumed session would show no certificates. */
function mutualOptions({ cert, key, findServerFault }: MutualTls) {
  const checks = { checkServerIdentity: findServerFault, minVersion: 'TLSv1.3', maxCachedSessions: 0 } as const
  return { cert, key, ...checks }
}

function connectOptions(destination: HttpDestination) {
  if ('socket_path' in destination) return { socketPath: destination.socket_path }
  return { lookup: checkedLookup(destination.rule, destination.resolve ?? systemResolver) }
}

/** No lookup checks a host that is itself an address. */
function findHostDenial(destination: HttpDestination, hostname: string): AddressDeniedError | undefined {
  if ('socket_path' in destination) return undefined
  return findLiteralDenial(hostname.replace(/^\[(.*)\]$/, '$1'), destination.rule)
}

/** Recorded or not as a request without a trace would be, by a sampler that follows its parent and has no ratio of its own. */
const sampled = '03'

/**
 * The headers of a new trace where the caller sends none: a listener may require one (`trace_mode`), of the site's own
 * clients as well. That of a local socket never does.
 */
function beginTrace(destination: HttpDestination, headers: HttpRequest['headers'] = {}): HttpRequest['headers'] {
  if ('socket_path' in destination || Object.hasOwn(headers, 'traceparent')) return {}
  return traceHeaders({ ...newTrace((bytes) => randomBytes(bytes).toString('hex')), flags: sampled })
}

/** Credentials of the URL, as node:http sends them. */
function basicCredentials(username: string, password: string): Record<string, string> {
  if (username === '' && password === '') return {}
  const pair = `${decodeURIComponent(username)}:${decodeURIComponent(password)}`
  return { authorization: `Basic ${Buffer.from(pair).toString('base64')}` }
}

function startLimits(signal: AbortSignal | undefined, { total_ms, head_ms }: HttpTimeLimits) {
  const ending = new AbortController()
  const endAfter = (limit_ms: number | undefined) =>
    limit_ms === undefined
      ? undefined
      : setTimeout(() => ending.abort(new HttpClientError('timeout', `no response within ${limit_ms} ms`)), limit_ms)
  const abort = () => ending.abort(new HttpClientError('aborted', 'the request was aborted'))
  const total = endAfter(total_ms)
  const head = endAfter(head_ms)
  signal?.addEventListener('abort', abort)
  if (signal?.aborted) abort()
  return {
    signal: ending.signal,
    onHead: () => clearTimeout(head),
    onEnd: () => {
      clearTimeout(total)
      clearTimeout(head)
      signal?.removeEventListener('abort', abort)
    },
  }
}
