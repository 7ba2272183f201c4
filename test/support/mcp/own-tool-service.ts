// Tools as this program serves them, behind a relay that lets a client use one revision of the protocol alone.
import { once } from 'node:events'
import * as http from 'node:http'
import type { AddressInfo } from 'node:net'
import type { AddressedOperation } from '../../../daemon/kernel/operation/operation.ts'
import { statelessRevision } from './mcp-client.ts'
import { serveTools } from './serve-tools.ts'
import type { TestedToolService } from './tested-tool-service.ts'

/** Operations of the echo role to the tools that they are here. */
const toolNames: Readonly<Record<string, string>> = { any: 'echo', busy: 'fail', wait: 'wait' }

const renameTool = (target: AddressedOperation, tool: string): AddressedOperation => ({
  ...target,
  operation: { ...target.operation, tool },
})

/** `revision`: the only one that a client can agree on. */
export async function startOwnToolService(revision: string): Promise<TestedToolService> {
  const served = await serveTools()
  served.changeTools((tools) =>
    tools.flatMap((target) => {
      const name = toolNames[target.operation.tool ?? '']
      return name === undefined ? [] : [renameTool(target, name)]
    }),
  )
  const relay = await startRevisionRelay(served.port, revision)
  const { signals } = served.echo.controls
  return {
    url: new URL(`${relay.url}/agentspace`),
    about: { name: 'test', version: '1' },
    tools: Object.values(toolNames),
    reportsProgress: false,
    token: 'alice.admin',
    credentials: relay.credentials,
    get cancelled() {
      return signals.filter(({ aborted }) => aborted).map(() => 'wait')
    },
    async addTool(name) {
      served.changeTools((tools) => {
        const [first] = tools
        return first ? [...tools, renameTool(first, name)] : tools
      })
    },
    offerResources: async () => [],
    close: relay.close,
  }
}

async function startRevisionRelay(target_port: number, revision: string) {
  const credentials: (string | undefined)[] = []
  const server = http.createServer(async (request, response) => {
    credentials.push(request.headers.authorization)
    const sent = Buffer.concat((await request.toArray()) as Buffer[]).toString()
    const body = pinRevision(sent, revision)
    if (body === undefined) return void response.writeHead(400).end()
    const { 'content-length': _, 'transfer-encoding': __, ...headers } = request.headers
    const length = body === '' ? {} : { 'content-length': String(Buffer.byteLength(body)) }
    const { method, url: path } = request
    const onward = http.request({ port: target_port, method, path, headers: { ...headers, ...length } })
    onward.on('response', (answer) => {
      response.writeHead(answer.statusCode ?? 502, answer.headers)
      response.flushHeaders()
      answer.on('error', () => response.destroy()).pipe(response)
    })
    onward.on('error', () => response.destroy())
    response.on('close', () => onward.destroy())
    onward.end(body)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    credentials,
    async close() {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}

/** The body in which a client offers this revision alone; undefined for what services of sessions do not know. */
function pinRevision(body: string, revision: string): string | undefined {
  if (body === '' || revision === statelessRevision) return body
  const message = JSON.parse(body) as { method?: string; params?: object }
  if (message.method === 'server/discover') return undefined
  if (message.method !== 'initialize') return body
  return JSON.stringify({ ...message, params: { ...message.params, protocolVersion: revision } })
}
