// A connection to a tool server of the site: one of several over one process, which may end and be started again meanwhile.
import type { HeldCall } from '../../../daemon/kernel/tools/client-input.ts'
import type { RemoteResource, RemoteResourceRead } from '../../../daemon/kernel/tools/remote-resource.ts'
import type {
  RemoteTool,
  RemoteToolCall,
  RemoteToolOutcome,
  RemoteToolResult,
  ToolConnection,
  UntrustedObject,
} from '../../../daemon/kernel/tools/tool-service.ts'
import type { McpConnection } from './connect-tools.ts'
import type { StdioProcess, StdioServer } from './stdio-server.ts'

/** The items that a process has listed last. */
type ListedItems<T> = { readonly by: StdioProcess; readonly items: readonly T[] }

/** Within which a request has its answer, a start of the process included. */
type TimedRequest = Pick<RemoteToolCall, 'timeout_ms' | 'cancelled'>

export class StdioConnection implements ToolConnection {
  readonly #server: StdioServer
  #process: StdioProcess
  #tools: ListedItems<RemoteTool> | undefined
  #resources: ListedItems<RemoteResource> | undefined

  private constructor(server: StdioServer, process: StdioProcess) {
    this.#server = server
    this.#process = process
  }

  static async open(server: StdioServer, signal: AbortSignal | undefined): Promise<StdioConnection> {
    return new StdioConnection(server, await server.open(signal))
  }

  get revision(): string {
    return this.#process.connection.revision
  }

  get service(): { name: string; version: string } | undefined {
    return this.#process.connection.service
  }

  get hasResources(): boolean {
    return this.#process.connection.hasResources
  }

  get reportsAll(): boolean {
    return this.#process.connection.reportsAll
  }

  async listTools(): Promise<readonly RemoteTool[]> {
    this.#tools = await this.#list(this.#tools, (connection) => connection.listTools())
    return this.#tools.items
  }

  async listResources(): Promise<readonly RemoteResource[]> {
    this.#resources = await this.#list(this.#resources, (connection) => connection.listResources())
    return this.#resources.items
  }

  async callTool(call: RemoteToolCall): Promise<RemoteToolResult> {
    return await this.#request(call, (connection, left) => connection.callTool({ ...call, ...left }))
  }

  /** The process serves other clients too, so it knows no abilities of this one. */
  async callForClient(call: RemoteToolCall, held?: HeldCall): Promise<RemoteToolOutcome> {
    return await this.#request(call, (connection, left) => connection.callForClient({ ...call, ...left }, held))
  }

  async readResource(read: RemoteResourceRead): Promise<readonly UntrustedObject[] | undefined> {
    return await this.#request(read, (connection, left) => connection.readResource({ ...read, ...left }))
  }

  async #request<T>(
    { cancelled: signal, timeout_ms }: TimedRequest,
    send: (connection: McpConnection, left: Pick<TimedRequest, 'timeout_ms'>) => Promise<T>,
  ): Promise<T> {
    const until_ms = performance.now() + timeout_ms
    return await this.#server.perform({ signal, timeout_ms, isUse: true }, async (running) => {
      this.#process = running
      return await send(running.connection, { timeout_ms: Math.max(1, Math.ceil(until_ms - performance.now())) })
    })
  }

  /** A process that is not there lists what it listed last: reading a list again must not keep it running. */
  async #list<T>(
    last: ListedItems<T> | undefined,
    read: (connection: McpConnection) => Promise<readonly T[]>,
  ): Promise<ListedItems<T>> {
    const { process } = this.#server
    if (last && !process) return last
    return await this.#server.perform({ isUse: last?.by !== process }, async (running) => {
      this.#process = running
      return { by: running, items: await read(running.connection) }
    })
  }

  /** A process that was ended as idle changes nothing; the next one may be another program. */
  async waitForChange(signal: AbortSignal): Promise<'changed' | 'ended' | 'unsupported'> {
    for (;;) {
      await this.#server.waitForStart(signal)
      const { process, isClosed } = this.#server
      if (signal.aborted || isClosed) return 'ended'
      if (!process) continue
      if (process !== this.#tools?.by) return 'changed'
      const outcome = await process.connection.waitForChange(signal)
      if (outcome !== 'ended' || !process.isDismissed) return outcome
    }
  }

  /** The process serves others, and ends when none is left. */
  async close(): Promise<void> {
    await Promise.resolve()
  }
}
