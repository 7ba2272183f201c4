// A tool service of the official library, over HTTP: the revision without sessions, or those with them.
import { once } from 'node:events'
import * as http from 'node:http'
import type { AddressInfo } from 'node:net'
import { Readable } from 'node:stream'
import {
  type CallToolRequest,
  createMcpHandler,
  inputRequired,
  Server,
  type ServerContext,
  WebStandardStreamableHTTPServerTransport,
} from '@modelcontextprotocol/server'
import type { TestedToolService } from './tested-tool-service.ts'

const tools_per_page = 2

/** Fields of a tool in a list, besides its name. */
type ListedFields = Readonly<Record<string, unknown>>

export type LibraryService = TestedToolService & {
  /** Names of the calls that have begun. */
  readonly called: readonly string[]
  /** What the service answers at `/service-info`. */
  serviceInfo: unknown
  /** Lists these fields for the tool from now on, and reports the change. */
  define(name: string, fields: ListedFields): Promise<void>
  /** Stops, forgets all sessions, and starts again at the same port after `meanwhile`. */
  restart(meanwhile?: () => Promise<void>): Promise<void>
}

/** `revision`: the only one that the service takes. */
export async function startLibraryService(revision: string): Promise<LibraryService> {
  const tools = ['echo', 'count', 'wait', 'fail']
  const names = [...tools]
  const definitions = new Map<string, ListedFields>()
  const about = { name: 'library', version: '1' }
  const called: string[] = []
  const cancelled: string[] = []
  const createServer = () => {
    const server = new Server(about, {
      capabilities: { tools: { listChanged: true } },
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
    server.setRequestHandler('tools/call', ({ params }, { mcpReq }) =>
      performTool(params, mcpReq, { called, cancelled }),
    )
    return server
  }
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
    called,
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
      await served.reportChange()
    },
    async define(name, fields) {
      definitions.set(name, fields)
      if (!names.includes(name)) names.push(name)
      await served.reportChange()
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

/** Names of calls. */
type CallRecords = { readonly called: string[]; readonly cancelled: string[] }

async function performTool(
  { name, arguments: input = {}, _meta }: CallToolRequest['params'],
  mcpReq: ServerContext['mcpReq'],
  { called, cancelled }: CallRecords,
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
  if (name.startsWith('ask-')) return answerAsked(input, inputOf(name), mcpReq)
  const text = { type: 'text' as const, text: JSON.stringify(input) }
  return { content: [text], structuredContent: input, ...(name === 'fail' ? { isError: true } : {}) }
}

type RequestedInput = NonNullable<Parameters<typeof inputRequired>[0]['inputRequests']>

/** Tools named `ask-…` require input of their client: an answer of a person, of its model, of both, or at a page. */
function inputOf(name: string): RequestedInput {
  const requestedSchema = { type: 'object' as const, properties: { route: { type: 'string' as const } } }
  const person = inputRequired.elicit({ message: 'Which route?', requestedSchema })
  const messages = [{ role: 'user' as const, content: { type: 'text' as const, text: 'Name a route.' } }]
  const model = inputRequired.createMessage({ messages, maxTokens: 16 })
  if (name === 'ask-person') return { person }
  if (name === 'ask-model') return { model }
  if (name === 'ask-page')
    return { page: inputRequired.elicitUrl({ message: 'Sign in', url: 'https://maps.example/in' }) }
  return { person, model }
}

/** The answers that came, with the state that was given out for them. */
function answerAsked(
  input: Record<string, unknown>,
  inputRequests: RequestedInput,
  { inputResponses, requestState }: Pick<ServerContext['mcpReq'], 'inputResponses' | 'requestState'>,
) {
  if (!inputResponses) return inputRequired({ inputRequests, requestState: JSON.stringify(input) })
  const structuredContent = { state: requestState(), answers: inputResponses }
  return { content: [{ type: 'text' as const, text: 'answered' }], structuredContent }
}

type ServedTools = { answer(request: Request): Promise<Response>; reportChange(): Promise<void> }

function serveWithoutSessions(createServer: () => Server): ServedTools {
  const handler = createMcpHandler(createServer, { legacy: 'reject' })
  return { answer: (request) => handler.fetch(request), reportChange: async () => handler.notify.toolsChanged() }
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
    async reportChange() {
      // Some sessions have ended, and none reports that.
      await Promise.allSettled([...sessions.values()].map(({ server }) => server.sendToolListChanged()))
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
