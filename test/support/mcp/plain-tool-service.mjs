// A tool service for benchmarks, as cheap as HTTP allows: `node plain-tool-service.mjs PORT`. One tool, which answers with its input.
import http from 'node:http'

const tool = {
  name: 'echo',
  description: 'Answers with its input',
  inputSchema: { type: 'object' },
  annotations: { readOnlyHint: true },
}
const about = { name: 'plain', version: '1' }
const capabilities = { tools: {} }

const complete = { resultType: 'complete' }
const cached = { ...complete, ttlMs: 0, cacheScope: 'private' }
const results = {
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
  const chunks = []
  request.on('data', (chunk) => chunks.push(chunk))
  request.on('end', () => {
    const message = JSON.parse(Buffer.concat(chunks).toString())
    const result = results[message.method]?.(message)
    response.writeHead(result ? 200 : 400, { 'content-type': 'application/json' })
    response.end(JSON.stringify({ jsonrpc: '2.0', id: message.id, result }))
  })
})
server.listen(Number(process.argv[2]), '127.0.0.1', () => console.log('ready'))
