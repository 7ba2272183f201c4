// Serves a list of tools over MCP in the revision without sessions: for a service that is not a role of a site.
import { createMcpHandler, ProtocolError, ProtocolErrorCode, Server } from '@modelcontextprotocol/server'

/** As the service describes it: its words and schemas are what a model reads. */
export type ServedTool = {
  readonly name: string
  readonly description: string
  readonly inputSchema: { readonly type: 'object'; readonly [field: string]: unknown }
  /** Performs the call for `subject`: the structured content of its result, or undefined for an input that it does not take. */
  perform(input: Readonly<Record<string, unknown>>, subject: string): Readonly<Record<string, unknown>> | undefined
}

export type McpToolService = {
  /** `subject`: of the verified token of the request. */
  answer(request: Request, subject: string): Promise<Response>
  /** Reports to those that listen that the list has changed. */
  reportChange(): void
}

/** `listTools`: read at each request. */
export function mcpToolService(
  about: { readonly name: string; readonly version: string },
  listTools: () => readonly ServedTool[],
): McpToolService {
  const openServer = (subject: string) => {
    const server = new Server(about, { capabilities: { tools: { listChanged: true } } })
    server.setRequestHandler('tools/list', () => ({
      tools: listTools().map(({ name, description, inputSchema }) => ({ name, description, inputSchema })),
    }))
    server.setRequestHandler('tools/call', ({ params }) => {
      const tool = listTools().find(({ name }) => name === params.name)
      if (!tool) throw new ProtocolError(ProtocolErrorCode.InvalidParams, `Unknown tool: ${params.name}`)
      const content = tool.perform(params.arguments ?? {}, subject)
      if (!content)
        throw new ProtocolError(ProtocolErrorCode.InvalidParams, `${tool.name} takes no such input: see its schema`)
      return { content: [{ type: 'text' as const, text: JSON.stringify(content) }], structuredContent: { ...content } }
    })
    return server
  }
  const handler = createMcpHandler(({ authInfo }) => openServer(authInfo?.clientId ?? ''), { legacy: 'reject' })
  return {
    answer: (request, subject) => handler.fetch(request, { authInfo: { token: '', clientId: subject, scopes: [] } }),
    reportChange: () => handler.notify.toolsChanged(),
  }
}
