// A tool service for benchmarks, as cheap as HTTP allows: `node plain-tool-service.ts PORT`. One tool, which answers with its input.
import http from 'node:http'

const tool = {
  name: 'echo',
  description: 'Answers with its input',
  inputSchema: { type: 'object' },
  annotations: { readOnlyHint: true },
}
const about = { name: 'plain', version: '1' }
const capabilities = { tools: {} }

type Message = { readonly id?: number; readonly method: string; readonly params?: { readonly arguments?: unknown } }

const complete = { resultType: 'complete' }
const cached = { ...complete, ttlMs: 0, cacheScope: 'private' }
const results: Readonly<Record<string, (message: Message) => object>> = {
  'server/discover': () => ({ ...cached, supportedVersions: ['2026-07-28'], capabilities, serverInfo: about }),
  'tools/list': () => ({ ...cached, tools: [tool] }),
  'tools/call': ({ params }) => ({
    ...complete,
    content: [{ type: 'text', text: JSON.stringify(params?.arguments) }],
    structuredContent: params?.arguments,
  }),
}

const server = http.createServer((request, response) => {
  if (request.url === '/service-info')
    return void response.end(JSON.stringify({ name: 'plain', mcp_path: '/mcp', tools_count: 1 }))
  const chunks: Buffer[] = []
  request.on('data', (chunk: Buffer) => chunks.push(chunk))
  request.on('end', () => {
    const message = JSON.parse(Buffer.concat(chunks).toString()) as Message
    const result = results[message.method]?.(message)
    response.writeHead(result ? 200 : 400, { 'content-type': 'application/json' })
    response.end(JSON.stringify({ jsonrpc: '2.0', id: message.id, result }))
  })
})
server.listen(Number(process.argv[2]), '127.0.0.1', () => console.log('ready'))
