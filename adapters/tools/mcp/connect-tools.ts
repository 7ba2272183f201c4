// Connects to tool services over MCP (streamable HTTP) in the three revisions that this program serves itself.
import { Client, type ClientCapabilities } from '@modelcontextprotocol/client'
import type * as z from 'zod'
import { type Refusal, refuse } from '../../../daemon/kernel/error/errors.ts'
import {
  type ClientAbilities,
  type HeldCall,
  InputRequiredResult,
  max_input_wait_ms,
  max_inputs_of_call,
  noAbilities,
} from '../../../daemon/kernel/tools/client-input.ts'
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
import { answerRequests, requestedMethods } from './client-requests.ts'
import type { StreamEnd } from './filter-events.ts'
import { toolOutcome, toolPage } from './remote-tool-schema.ts'
import { type CallOutcome, RunningCall } from './running-call.ts'
import { type McpRequest, type RequestTerms, sendRequest } from './send-request.ts'
import { toRefusal } from './to-refusal.ts'

/** The newest first. */
const revisions = ['2026-07-28', '2025-11-25', '2025-06-18']

/** The answer of a service whose sessions have no stream. */
const no_stream_status = 405

/** Pages of a list; a service that never ends its list is at fault. */
const max_pages = 64

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
  readonly #abilities: ClientAbilities
  readonly #watch = new ChangeWatch()
  #subscription: Promise<void> | undefined
  #opening: NodeJS.Timeout | undefined
  readonly #ending = new AbortController()

  constructor(address: ToolServiceAddress, { about, limits, rule, resolve }: McpClientOptions) {
    this.#limits = limits
    this.#name = address.url.origin
    const { abilities = noAbilities } = address
    this.#abilities = abilities
    const sessionStream = {
      onBegin: () => {
        clearTimeout(this.#opening)
        this.#watch.report('changed')
      },
      onRefused: (status: number) =>
        this.#watch.report(status === no_stream_status ? 'unsupported' : this.#unopened(status)),
      onEnd: (end: StreamEnd) => this.#endReports(end),
    }
    this.#http = boundedFetch({ ca: address.ca, rule, resolve }, limits, sessionStream, {
      requests: requestedMethods(abilities),
      isInputRequirable: () => !this.#hasSessionStream,
    })
    this.#transport = new CancellingTransport(address, this.#http)
    this.#client = new Client(about, {
      supportedProtocolVersions: revisions,
      versionNegotiation: { mode: 'auto' },
      capabilities: abilities as ClientCapabilities,
      inputRequired: { autoFulfill: false },
      jsonSchemaValidator: uncheckedSchemas,
    })
    answerRequests(this.#client, abilities)
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
    const outcome = await this.callForClient(call)
    if (!(outcome instanceof InputRequiredResult)) return outcome
    throw refuse('unavailable', `${this.#name} requires input of a client, which a program does not give`)
  }

  async callForClient(call: RemoteToolCall, held?: HeldCall): Promise<CallOutcome> {
    const running = held instanceof RunningCall ? held : this.#begin(call)
    return await running.run(call)
  }

  #begin({ name, input, timeout_ms, trace, continuation, onProgress }: RemoteToolCall): RunningCall {
    const { responses, state, refused = [] } = continuation ?? {}
    // Between the revisions: input comes with the next request in one, and to a call that is open in the others.
    if (continuation && this.#hasSessionStream)
      throw refuse('invalid', 'no call waits for this input any more: call the tool again')
    if (refused.length > 0) throw refuse('forbidden', `the client does not give the input that ${this.#name} requires`)
    const params = {
      ...{ name, arguments: { ...input } },
      ...(responses ? { inputResponses: responses } : {}),
      ...(state === undefined ? {} : { requestState: state }),
    }
    const longest_ms = timeout_ms + (hasAny(this.#abilities) ? max_inputs_of_call * max_input_wait_ms : 0)
    return new RunningCall(this.#name, this.#abilities, (running) =>
      this.#request({ method: 'tools/call', params }, toolOutcome, longest_ms, {
        cancelled: running.signal,
        trace,
        onProgress: onProgress && ((progress) => running.report(progress)),
      }),
    )
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

  async #request<T>(request: McpRequest, schema: z.ZodType<T>, timeout_ms: number, options?: RequestTerms): Promise<T> {
    const link = { client: this.#client, transport: this.#transport, name: this.#name }
    return await sendRequest(link, request, schema, timeout_ms, options)
  }
}

const hasAny = (abilities: ClientAbilities): boolean => Object.keys(abilities).length > 0
