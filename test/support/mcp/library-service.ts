// A tool service of the official library, over HTTP: the revision without sessions, or those with them.
import { once } from 'node:events'
import * as http from 'node:http'
import type { AddressInfo } from 'node:net'
import { Readable } from 'node:stream'
import {
  type CallToolRequest,
  createMcpHandler,
  Server,
  type ServerContext,
  WebStandardStreamableHTTPServerTransport,
} from '@modelcontextprotocol/server'
import { answerWithInput, inputOf } from './asking-tools.ts'
import { LibraryResources } from './library-resources.ts'
import type { TestedToolService } from './tested-tool-service.ts'

const tools_per_page = 2

/** Fields of a tool in a list, besides its name. */
type ListedFields = Readonly<Record<string, unknown>>

export type LibraryService = TestedToolService & {
  readonly resources: LibraryResources
  /** Names of the calls that have begun. */
  readonly called: readonly string[]
  /** What the service answers at `/service-info`. */
  serviceInfo: unknown
  /** Lists these fields for the tool from now on, and reports the change. */
  define(name: string, fields: ListedFields): Promise<void>
  /** The content of every result from now on; undefined: the input. */
  answerWith(content: readonly object[] | undefined): void
  /** Stops, forgets all sessions, and starts again at the same port after `meanwhile`. */
  restart(meanwhile?: () => Promise<void>): Promise<void>
}

/** `revision`: the only one that the service takes. */
export async function startLibraryService(revision: string): Promise<LibraryService> {
  const tools = ['echo', 'count', 'wait', 'fail']
  const resources = new LibraryResources(() => served.reportChange('resources'))
  const state: ServerState = {
    ...{ names: [...tools], definitions: new Map(), resources, called: [], cancelled: [], answered: undefined },
  }
  const { names, definitions, called, cancelled } = state
  const createServer = () => createToolServer(revision, state)
  const serve = () => (revision >= '2026' ? serveWithoutSessions(createServer) : serveSessions(createServer))
  let served = serve()
  const credentials: (string | undefined)[] = []
  const listener = http.createServer((request, response) => {
    if (request.url === '/service-info') return void response.end(JSON.stringify(service.serviceInfo))
    credentials.push(request.headers.authorization)
    void answer(served.answer, request, response)
  })
  const listen = async (port: number) => {
    listener.listen(port, '127.0.0.1').unref()
    await once(listener, 'listening')
  }
  const stop = async () => {
    listener.closeAllConnections()
    listener.close()
    await once(listener, 'close')
  }
  await listen(0)
  const { port } = listener.address() as AddressInfo
  const service: LibraryService = {
    ...{ called, resources },
    answerWith(content) {
      state.answered = content
    },
    serviceInfo: {},
    url: new URL(`http://127.0.0.1:${port}/mcp`),
    about,
    tools,
    reportsProgress: true,
    token: 'token-for-this-service',
    credentials,
    cancelled,
    async addTool(name) {
      names.push(name)
      await served.reportChange('tools')
    },
    async offerResources() {
      await resources.define('notes://all', { title: 'Notes', mimeType: 'text/plain', size: 7 })
      await resources.define('notes://first')
      await resources.define('notes://by/{day}', { description: 'Notes of a day' })
      return [
        { kind: 'resource', uri: 'notes://all', name: 'notes://all', title: 'Notes', mime_type: 'text/plain' },
        { kind: 'resource', uri: 'notes://first', name: 'notes://first' },
        { kind: 'template', uri: 'notes://by/{day}', name: 'notes://by/{day}', description: 'Notes of a day' },
      ]
    },
    async define(name, fields) {
      definitions.set(name, fields)
      if (!names.includes(name)) names.push(name)
      await served.reportChange('tools')
    },
    async restart(meanwhile) {
      await stop()
      served = serve()
      await meanwhile?.()
      await listen(port)
    },
    close: stop,
  }
  return service
}

type ServerState = {
  readonly names: string[]
  readonly definitions: Map<string, ListedFields>
  readonly resources: LibraryResources
  readonly called: string[]
  readonly cancelled: string[]
  answered: readonly object[] | undefined
}

const about = { name: 'library', version: '1' }

function createToolServer(revision: string, state: ServerState): Server {
  const { names, definitions, resources } = state
  const server = new Server(about, {
    capabilities: { tools: { listChanged: true }, resources: { listChanged: true } },
    supportedProtocolVersions: [revision],
  })
  server.setRequestHandler('tools/list', ({ params }) => {
    const from = Number(params?.cursor ?? 0)
    const tools = names
      .slice(from, from + tools_per_page)
      .map((name) => ({ name, inputSchema: { type: 'object' as const }, ...definitions.get(name) }))
    const next = from + tools_per_page
    return { tools, ...(next < names.length ? { nextCursor: String(next) } : {}) }
  })
  server.setRequestHandler('tools/call', ({ params }, { mcpReq }) => performTool(params, mcpReq, state))
  resources.offer(server)
  return server
}

async function performTool(
  { name, arguments: input = {}, _meta }: CallToolRequest['params'],
  mcpReq: ServerContext['mcpReq'],
  { called, cancelled, answered }: ServerState,
) {
  called.push(name)
  const progressToken = _meta?.progressToken
  if (name === 'count' && progressToken !== undefined)
    for (const progress of [1, 2, 3])
      await mcpReq.notify({ method: 'notifications/progress', params: { progressToken, progress, total: 3 } })
  if (name === 'wait') {
    await new Promise<void>((resolve) => mcpReq.signal.addEventListener('abort', () => resolve()))
    cancelled.push(name)
  }
  if (name.startsWith('ask-')) return answerWithInput(input, inputOf(name), mcpReq)
  const text = { type: 'text' as const, text: JSON.stringify(input) }
  return {
    content: answered ? [...(answered as (typeof text)[])] : [text],
    structuredContent: input,
    ...(name === 'fail' ? { isError: true } : {}),
  }
}

type ServedTools = {
  answer(request: Request): Promise<Response>
  reportChange(list: 'tools' | 'resources'): Promise<void>
}

function serveWithoutSessions(createServer: () => Server): ServedTools {
  const handler = createMcpHandler(createServer, { legacy: 'reject' })
  return {
    answer: (request) => handler.fetch(request),
    async reportChange(list) {
      if (list === 'tools') handler.notify.toolsChanged()
      else handler.notify.resourcesChanged()
    },
  }
}

function serveSessions(createServer: () => Server): ServedTools {
  const sessions = new Map<string, { server: Server; transport: WebStandardStreamableHTTPServerTransport }>()
  return {
    async answer(request) {
      const known = sessions.get(request.headers.get('mcp-session-id') ?? '')
      if (known) return await known.transport.handleRequest(request)
      const server = createServer()
      const transport = new WebStandardStreamableHTTPServerTransport({
        sessionIdGenerator: () => `session-${sessions.size}`,
        onsessioninitialized: (id) => void sessions.set(id, { server, transport }),
      })
      await server.connect(transport)
      return await transport.handleRequest(request)
    },
    async reportChange(list) {
      const report = (server: Server) =>
        list === 'tools' ? server.sendToolListChanged() : server.sendResourceListChanged()
      // Some sessions have ended, and none reports that.
      await Promise.allSettled([...sessions.values()].map(({ server }) => report(server)))
    },
  }
}

async function answer(
  handle: ServedTools['answer'],
  { method = 'GET', url = '/', headers, ...rest }: http.IncomingMessage,
  response: http.ServerResponse,
): Promise<void> {
  void rest
  const request = response.req
  const body = method === 'POST' ? Buffer.concat((await request.toArray()) as Buffer[]).toString() : undefined
  const ending = new AbortController()
  response.on('close', () => ending.abort())
  const sent = new Request(new URL(url, 'http://127.0.0.1'), {
    method,
    headers: Object.entries(headers).map(([name, value]) => [name, String(value)] as [string, string]),
    signal: ending.signal,
    ...(body === undefined ? {} : { body }),
  })
  const answered = await handle(sent)
  response.writeHead(answered.status, Object.fromEntries(answered.headers))
  if (!answered.body) return void response.end()
  response.flushHeaders()
  Readable.fromWeb(answered.body as never)
    .on('error', () => response.destroy())
    .pipe(response)
}
