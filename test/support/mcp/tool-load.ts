// Calls one tool again and again over kept connections, each caller after its last answer, and measures each call.
import http from 'node:http'
import { requestMeta, statelessRevision } from './mcp-client.ts'

export type ToolTarget = { readonly url: string; readonly tool: string; readonly token?: string | undefined }

export type ToolLoad = {
  readonly calls: number
  readonly calls_per_s: number
  readonly p50_ms: number
  readonly p99_ms: number
}

/** Throws for an answer that is not the result of the tool. */
export async function loadTool(target: ToolTarget, callers: number, seconds: number): Promise<ToolLoad> {
  const agent = new http.Agent({ keepAlive: true, maxSockets: callers })
  const times_ms: number[] = []
  const began = performance.now()
  const end = began + seconds * 1_000
  const run = async () => {
    while (performance.now() < end) {
      const at = performance.now()
      await callOnce(target, agent)
      times_ms.push(performance.now() - at)
    }
  }
  await Promise.all(Array.from({ length: callers }, run))
  const elapsed_s = (performance.now() - began) / 1_000
  agent.destroy()
  times_ms.sort((one, other) => one - other)
  const at = (share: number) => times_ms[Math.floor(times_ms.length * share)] ?? Number.NaN
  return { calls: times_ms.length, calls_per_s: times_ms.length / elapsed_s, p50_ms: at(0.5), p99_ms: at(0.99) }
}

let last_id = 0

function callOnce({ url, tool, token }: ToolTarget, agent: http.Agent): Promise<void> {
  const params = { name: tool, arguments: { text: 'x'.repeat(100) }, _meta: requestMeta }
  const body = JSON.stringify({ jsonrpc: '2.0', id: ++last_id, method: 'tools/call', params })
  const { promise, resolve, reject } = Promise.withResolvers<void>()
  const request = http.request(url, {
    agent,
    method: 'POST',
    headers: {
      ...{ accept: 'application/json, text/event-stream', 'content-type': 'application/json' },
      ...{ 'mcp-protocol-version': statelessRevision, 'mcp-method': 'tools/call', 'mcp-name': tool },
      'content-length': Buffer.byteLength(body),
      ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
    },
  })
  request.on('error', reject).on('response', (response) => {
    const chunks: Buffer[] = []
    response.on('data', (chunk: Buffer) => chunks.push(chunk)).on('error', reject)
    response.on('end', () => {
      const text = Buffer.concat(chunks).toString()
      if (response.statusCode === 200 && text.includes('xxxxxxxx')) resolve()
      else reject(new Error(`${url}: ${response.statusCode} ${text.slice(0, 500)}`))
    })
  })
  request.end(body)
  return promise
}
