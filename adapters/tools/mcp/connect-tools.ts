// Connects to tool services over MCP (streamable HTTP) in the three revisions that this program serves itself.
import { Client, type ClientCapabilities } from '@modelcontextprotocol/client'
import type * as z from 'zod'
import { refuse } from '../../../daemon/kernel/error/errors.ts'
import {
  type ClientAbilities,
  type HeldCall,
  InputRequiredResult,
  max_input_wait_ms,
  max_inputs_of_call,
  noAbilities,
  UnknownCallRefusal,
} from '../../../daemon/kernel/tools/client-input.ts'
import type { RemoteResource, RemoteResourceRead } from '../../../daemon/kernel/tools/remote-resource.ts'
import type {
  RemoteTool,
  RemoteToolCall,
  RemoteToolOutcome,
  RemoteToolResult,
  ToolConnection,
  ToolServiceLimits,
  ToolServices,
  UntrustedObject,
} from '../../../daemon/kernel/tools/tool-service.ts'
import type { CheckedDestination } from '../../platform/http-client/http-client.ts'
import { answerRequests, requestedMethods } from './client-requests.ts'
import { whereNotFound, whereUnknownMethod } from './error-answer.ts'
import { type ListedKind, listPages, type RemotePage } from './list-pages.ts'
import { ListReports } from './list-reports.ts'
import { resourceContents, resourcePage, templatePage } from './remote-resource-schema.ts'
import { toolOutcome, toolPage } from './remote-tool-schema.ts'
import { RunningCall } from './running-call.ts'
import { type ListMethod, type McpRequest, type SendTerms, sendRequest } from './send-request.ts'
import { toRefusal } from './to-refusal.ts'
import { httpLink, type LinkOpening, type ToolLink } from './tool-link.ts'

/** The newest first. */
const revisions = ['2026-07-28', '2025-11-25', '2025-06-18']

/** How long the service has to end a session. */
const goodbye_ms = 1_000

export type McpConnectionOptions = {
  readonly about: { readonly name: string; readonly version: string }
  readonly limits: ToolServiceLimits
  /** The abilities of this side. */
  readonly abilities?: ClientAbilities | undefined
}

/** `rule`, `resolve`: of the addresses of services, at each connection. */
export type McpClientOptions = CheckedDestination & Omit<McpConnectionOptions, 'abilities'>

export function mcpToolServices(options: McpClientOptions): ToolServices {
  return {
    async connect(address, signal) {
      const connection = new McpConnection(address.url.origin, httpLink(address, options), {
        ...options,
        abilities: address.abilities,
      })
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

export class McpConnection implements ToolConnection {
  readonly #client: Client
  readonly #link: ToolLink
  readonly #limits: ToolServiceLimits
  readonly #name: string
  readonly #abilities: ClientAbilities
  readonly #reports: ListReports

  /** `name`: how refusals name the service. */
  constructor(name: string, openLink: LinkOpening, { about, limits, abilities = noAbilities }: McpConnectionOptions) {
    this.#limits = limits
    this.#name = name
    this.#abilities = abilities
    this.#client = new Client(about, {
      supportedProtocolVersions: revisions,
      versionNegotiation: { mode: 'auto' },
      capabilities: abilities as ClientCapabilities,
      inputRequired: { autoFulfill: false },
      jsonSchemaValidator: uncheckedSchemas,
    })
    answerRequests(this.#client, abilities)
    this.#reports = new ListReports(this.#client, this.#name, limits)
    this.#link = openLink(this.#reports.sessionStream, {
      requests: requestedMethods(abilities),
      isInputRequirable: () => !this.#hasSessions,
    })
  }

  async open(signal: AbortSignal | undefined): Promise<void> {
    try {
      const options = { timeout: this.#limits.answer_ms, ...(signal ? { signal } : {}) }
      await this.#client.connect(this.#link.transport, options)
      if (this.#link.endSession) this.#reports.limitOpening()
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
    const { tools, resources } = this.#client.getServerCapabilities() ?? {}
    if (!tools && resources) return []
    return await this.#list('tools', 'tools/list', toolPage, ({ name }) => name)
  }

  get hasResources(): boolean {
    return this.#client.getServerCapabilities()?.resources !== undefined
  }

  async listResources(): Promise<readonly RemoteResource[]> {
    if (!this.hasResources) return []
    const keyOf = ({ uri }: RemoteResource) => uri
    const resources = await this.#list('resources', 'resources/list', resourcePage, keyOf)
    const templates = await this.#list('resource templates', 'resources/templates/list', templatePage, keyOf)
    return [...resources, ...templates]
  }

  async readResource(read: RemoteResourceRead): Promise<readonly UntrustedObject[] | undefined> {
    const { uri, timeout_ms, cancelled, trace } = read
    const instead = whereNotFound(undefined)
    const request = { method: 'resources/read', params: { uri } } as const
    return await this.#request(request, resourceContents, timeout_ms, { cancelled, trace, instead })
  }

  async callTool(call: RemoteToolCall): Promise<RemoteToolResult> {
    const outcome = await this.callForClient(call)
    if (!(outcome instanceof InputRequiredResult)) return outcome
    throw refuse('unavailable', `${this.#name} requires input of a client, which a program does not give`)
  }

  async callForClient(call: RemoteToolCall, held?: HeldCall): Promise<RemoteToolOutcome> {
    const running = held instanceof RunningCall ? held : this.#begin(call)
    return await running.run(call)
  }

  #begin({ name, input, timeout_ms, trace, continuation, onProgress }: RemoteToolCall): RunningCall {
    const { responses, state, refused = [] } = continuation ?? {}
    // Between the revisions: input comes with the next request in one, and to a call that is open in the others.
    if (continuation && this.#hasSessions) throw new UnknownCallRefusal()
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

  get reportsAll(): boolean {
    return this.#reports.areOfAllLists
  }

  waitForChange(signal: AbortSignal): Promise<'changed' | 'ended' | 'unsupported'> {
    return this.#reports.waitForChange(signal)
  }

  async close(): Promise<void> {
    const goodbye = this.#link.endSession?.().catch(() => undefined)
    const impatience = new Promise<void>((resolve) => void setTimeout(resolve, goodbye_ms).unref())
    if (this.#link.transport.sessionId !== undefined) await Promise.race([goodbye, impatience])
    await this.#end()
  }

  async #end(): Promise<void> {
    this.#reports.end()
    await this.#client.close().catch(() => undefined)
    this.#link.close()
  }

  /** A service may have resources without templates, and know no list of them. */
  async #list<T>(
    what: ListedKind,
    method: ListMethod,
    schema: z.ZodType<RemotePage<T>>,
    keyOf: (item: T) => string,
  ): Promise<readonly T[]> {
    const [service, limits] = [this.#name, this.#limits]
    const options = what === 'resource templates' ? { instead: whereUnknownMethod<RemotePage<T>>({ items: [] }) } : {}
    const readPage = (params: { readonly cursor?: string }) =>
      this.#request({ method, params }, schema, limits.answer_ms, options)
    return await listPages({ service, what, limits, keyOf, readPage })
  }

  /** The revision without sessions has other ways for what a service sends by itself. */
  get #hasSessions(): boolean {
    return this.#client.getProtocolEra() !== 'modern'
  }

  async #request<T, U = never>(
    request: McpRequest,
    schema: z.ZodType<T>,
    timeout_ms: number,
    terms?: SendTerms<U>,
  ): Promise<T | U> {
    const link = { client: this.#client, link: this.#link, name: this.#name }
    return await sendRequest(link, request, schema, timeout_ms, terms)
  }
}

const hasAny = (abilities: ClientAbilities): boolean => Object.keys(abilities).length > 0
