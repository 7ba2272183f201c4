// Connects to tool services over MCP (streamable HTTP) in the three revisions that this program serves itself.
import { Client } from '@modelcontextprotocol/client'
import type * as z from 'zod'
import { type Refusal, refuse } from '../../../daemon/kernel/error/errors.ts'
import { parseWithSchema } from '../../../daemon/kernel/error/parsing.ts'
import type {
  RemoteTool,
  RemoteToolCall,
  RemoteToolResult,
  ToolConnection,
  ToolServiceAddress,
  ToolServiceLimits,
  ToolServices,
} from '../../../daemon/kernel/tools/tool-service.ts'
import type { CheckedDestination } from '../../platform/http-client/http-client.ts'
import { type BoundedFetch, boundedFetch, streamEndOfRequest } from './bounded-fetch.ts'
import { CancellingTransport } from './cancelling-transport.ts'
import { ChangeWatch } from './change-watch.ts'
import type { StreamEnd } from './filter-events.ts'
import { toolPage, toolProgress, toolResult } from './remote-tool-schema.ts'
import { toRefusal } from './to-refusal.ts'

/** The newest first. */
const revisions = ['2026-07-28', '2025-11-25', '2025-06-18']

/** The answer of a service whose sessions have no stream. */
const no_stream_status = 405

/** Pages of a list; a service that never ends its list is at fault. */
const max_pages = 64

/** The library's own limit comes after that of the call: of two at a time, either could be reported as the cause. */
const library_grace_ms = 1_000

/** How long the service has to end a session. */
const goodbye_ms = 1_000

/** `rule`, `resolve`: of the addresses of services, at each connection. */
export type McpClientOptions = CheckedDestination & {
  readonly about: { readonly name: string; readonly version: string }
  readonly limits: ToolServiceLimits
}

export function mcpToolServices(options: McpClientOptions): ToolServices {
  return {
    async connect(address, signal) {
      const connection = new McpConnection(address, options)
      await connection.open(signal)
      return connection
    },
  }
}

/**
 * Schemas of a service are not compiled: their patterns could take any time, and compilers of schemas write code. The
 * gateway of a model checks what it passes on by its own rules.
 */
const uncheckedSchemas = {
  getValidator: () => (input: unknown) => ({ valid: true as const, data: input as never, errorMessage: undefined }),
}

class McpConnection implements ToolConnection {
  readonly #client: Client
  readonly #transport: CancellingTransport
  readonly #http: BoundedFetch
  readonly #limits: ToolServiceLimits
  readonly #name: string
  readonly #watch = new ChangeWatch()
  #subscription: Promise<void> | undefined
  #opening: NodeJS.Timeout | undefined
  readonly #ending = new AbortController()

  constructor(address: ToolServiceAddress, { about, limits, rule, resolve }: McpClientOptions) {
    this.#limits = limits
    this.#name = address.url.origin
    this.#http = boundedFetch({ ca: address.ca, rule, resolve }, limits, {
      onBegin: () => {
        clearTimeout(this.#opening)
        this.#watch.report('changed')
      },
      onRefused: (status) => this.#watch.report(status === no_stream_status ? 'unsupported' : this.#unopened(status)),
      onEnd: (end) => this.#endReports(end),
    })
    this.#transport = new CancellingTransport(address, this.#http)
    this.#client = new Client(about, {
      supportedProtocolVersions: revisions,
      versionNegotiation: { mode: 'auto' },
      inputRequired: { autoFulfill: false },
      jsonSchemaValidator: uncheckedSchemas,
    })
    this.#client.setNotificationHandler('notifications/tools/list_changed', () => this.#watch.report('changed'))
  }

  async open(signal: AbortSignal | undefined): Promise<void> {
    try {
      const options = { timeout: this.#limits.answer_ms, ...(signal ? { signal } : {}) }
      await this.#client.connect(this.#transport, options)
      this.#limitOpening()
    } catch (error) {
      await this.#end()
      throw toRefusal(this.#name, error)
    }
  }

  get revision(): string {
    return this.#client.getNegotiatedProtocolVersion() ?? ''
  }

  get service(): { name: string; version: string } | undefined {
    const about = this.#client.getServerVersion()
    return about && { name: about.name, version: about.version }
  }

  async listTools(): Promise<readonly RemoteTool[]> {
    const tools = new Map<string, RemoteTool>()
    const { answer_bytes } = this.#limits
    let cursor: string | undefined
    let bytes = 0
    for (let page = 0; page < max_pages; page += 1) {
      const params = cursor === undefined ? {} : { cursor }
      const listed = await this.#request({ method: 'tools/list', params }, toolPage, this.#limits.answer_ms)
      bytes += JSON.stringify(listed.tools).length
      if (bytes > answer_bytes)
        throw refuse('unavailable', `${this.#name} lists tools of more than ${answer_bytes} bytes`)
      for (const tool of listed.tools) tools.set(tool.name, tool)
      if (tools.size > this.#limits.tools)
        throw refuse('unavailable', `${this.#name} lists more than the ${this.#limits.tools} tools that are accepted`)
      cursor = listed.nextCursor
      if (cursor === undefined) return [...tools.values()]
    }
    throw refuse('unavailable', `${this.#name} lists its tools on more than ${max_pages} pages`)
  }

  async callTool(call: RemoteToolCall): Promise<RemoteToolResult> {
    const { name, input, timeout_ms, cancelled, onProgress, trace } = call
    const params = { name, arguments: { ...input } }
    return await this.#request({ method: 'tools/call', params }, toolResult, timeout_ms, {
      cancelled,
      trace,
      onprogress: onProgress && ((sent: unknown) => reportProgress(onProgress, sent)),
    })
  }

  async waitForChange(signal: AbortSignal): Promise<'changed' | 'ended' | 'unsupported'> {
    if (!this.#client.getServerCapabilities()?.tools?.listChanged) return 'unsupported'
    if (!this.#hasSessionStream) this.#subscription ??= this.#subscribe()
    return await this.#watch.wait(signal)
  }

  async close(): Promise<void> {
    const goodbye = this.#transport.terminateSession().catch(() => undefined)
    const impatience = new Promise<void>((resolve) => void setTimeout(resolve, goodbye_ms).unref())
    if (this.#transport.sessionId !== undefined) await Promise.race([goodbye, impatience])
    await this.#end()
  }

  async #end(): Promise<void> {
    this.#watch.report('ended')
    clearTimeout(this.#opening)
    this.#ending.abort()
    await this.#client.close().catch(() => undefined)
    this.#http.close()
  }

  /** The revision without sessions has subscriptions instead. */
  get #hasSessionStream(): boolean {
    return this.#client.getProtocolEra() !== 'modern'
  }

  /** The library requests the stream of a session by itself. A stream that never begins would look like a list that never changes. */
  #limitOpening(): void {
    const { answer_ms } = this.#limits
    const late = () => this.#watch.report(this.#unopened(`nothing within ${answer_ms} ms`))
    if (this.#hasSessionStream) this.#opening = setTimeout(late, answer_ms).unref()
  }

  #unopened(answer: number | string): Refusal {
    return refuse('unavailable', `${this.#name} opens no stream of notifications: it answered ${answer}`)
  }

  /** Subscribes until the connection ends: a change between two waits is not lost. A failure ends the reports. */
  async #subscribe(): Promise<void> {
    try {
      const options = { signal: this.#ending.signal, timeout: this.#limits.answer_ms }
      const listen = () => this.#client.listen({ toolsListChanged: true }, options)
      const subscription = await streamEndOfRequest.run((end) => this.#endReports(end), listen)
      this.#watch.report(subscription.honoredFilter.toolsListChanged ? 'changed' : 'unsupported')
      void subscription.closed.then(() => this.#watch.report('ended'))
    } catch (error) {
      this.#watch.report(toRefusal(this.#name, error))
    }
  }

  #endReports({ cause }: StreamEnd): void {
    this.#watch.report(cause === undefined ? 'ended' : toRefusal(this.#name, cause))
  }

  async #request<T>(
    request: { method: 'tools/list' | 'tools/call'; params: Record<string, unknown> },
    schema: z.ZodType<T>,
    timeout_ms: number,
    options: Pick<RemoteToolCall, 'cancelled' | 'trace'> & {
      readonly onprogress?: ((sent: unknown) => void) | undefined
    } = {},
  ): Promise<T> {
    const { cancelled, trace = {}, onprogress } = options
    const broken = new AbortController()
    const limit = AbortSignal.timeout(timeout_ms)
    const ending = AbortSignal.any([broken.signal, limit, ...(cancelled ? [cancelled] : [])])
    const headers = this.#transport.withSignal({ ...trace }, ending)
    try {
      const timeout = timeout_ms + library_grace_ms
      const options = { signal: ending, timeout, maxTotalTimeout: timeout, headers }
      const send = () =>
        this.#client.request<'tools/list' | 'tools/call'>(request, {
          ...options,
          ...(onprogress ? { onprogress } : {}),
        })
      const answer: unknown = await streamEndOfRequest.run((end) => breakRequest(broken, end), send)
      return readAnswer(this.#name, schema, answer)
    } catch (error) {
      if (cancelled?.aborted) throw refuse('timeout', 'the call was cancelled by its caller')
      // The end of the request breaks its stream: what came first is the cause.
      if (limit.aborted && ending.reason === limit.reason)
        throw refuse('timeout', `${this.#name} did not answer within ${timeout_ms} ms`)
      if (broken.signal.aborted) throw toRefusal(this.#name, broken.signal.reason)
      throw toRefusal(this.#name, error)
    }
  }
}

/** A stream that ends without the response ends its request, with the cause: the library would wait for its time limit. */
function breakRequest(request: AbortController, { hasResponse, cause }: StreamEnd): void {
  if (hasResponse) return
  request.abort(cause ?? refuse('unavailable', 'the stream of the service ended before its answer'))
}

function reportProgress(onProgress: NonNullable<RemoteToolCall['onProgress']>, sent: unknown): void {
  const progress = toolProgress.safeParse(sent)
  if (progress.success) onProgress(progress.data)
}

function readAnswer<T>(service: string, schema: z.ZodType<T>, answer: unknown): T {
  const validation = parseWithSchema(schema, answer)
  if (validation.success) return validation.data
  const [first] = validation.errors
  throw refuse('unavailable', `${service} sent what the protocol does not allow: ${first?.path}: ${first?.message}`)
}
