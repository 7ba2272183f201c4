// The public proxy as an operator runs it: the packaged executable, before a platform and an identity provider of a test.
import { once } from 'node:events'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { type ExactRequest, type ExactResponse, sendExactRequest } from '../http/send-exact-request.ts'
import { createPackagedSite, type PackagedSite, type ServedSite } from '../site/packaged-site.ts'

export type ReceivedRequest = {
  readonly method: string
  readonly url: string
  readonly headers: IncomingMessage['headers']
  readonly body: string
}

/** A server that records its requests, and answers as the test decides. */
export type ScriptedServer = {
  readonly port: number
  readonly requests: ReceivedRequest[]
  respond: (request: ReceivedRequest, response: ServerResponse) => void
  close(): Promise<void>
}

export async function startScriptedServer(answer: ScriptedServer['respond']): Promise<ScriptedServer> {
  const server: Server = createServer((request, response) => {
    const pieces: Buffer[] = []
    request.on('data', (piece: Buffer) => pieces.push(piece))
    request.on('end', () => {
      const { method = '', url = '', headers } = request
      const received = { method, url, headers, body: Buffer.concat(pieces).toString('utf8') }
      scripted.requests.push(received)
      scripted.respond(received, response)
    })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const scripted: ScriptedServer = {
    port: (server.address() as AddressInfo).port,
    requests: [],
    respond: answer,
    async close() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
  return scripted
}

export const upstreamServiceToken = 'service-token-that-no-caller-may-see'
export const proxyClientSecret = 'client-secret-that-nobody-may-see'

export type PackagedProxy = {
  readonly site: PackagedSite
  readonly platform: ScriptedServer
  readonly provider: ScriptedServer
  readonly env: Readonly<Record<string, string>>
  serve(more?: Readonly<Record<string, string>>): Promise<ServedSite>
  /** Of a person with every permission, for the local socket. */
  token(): string
  /** Stops what it serves, and removes its folder. */
  close(): Promise<void>
}

/** `rules` go into the profile. Two threads, limits that nothing reaches, no cache: unless `env` says otherwise. */
export async function createPackagedProxy(
  rules: readonly string[],
  env: Readonly<Record<string, string>> = {},
): Promise<PackagedProxy> {
  const platform = await startScriptedServer((_, response) => response.end('{"ok":1}\n'))
  const provider = await startScriptedServer((_, response) => {
    response.setHeader('content-type', 'application/json')
    response.end(JSON.stringify({ access_token: upstreamServiceToken, token_type: 'Bearer', expires_in: 600 }))
  })
  const site = createPackagedSite('public-proxy', 'door')
  site.edit('  # trusted_networks: [10.20.0.0/16]', '  trusted_networks: [127.0.0.1]')
  site.edit('allowlist: []', `allowlist: ${JSON.stringify(rules)}`)
  const own = {
    PLATFORM_API_URL: `http://127.0.0.1:${platform.port}`,
    SSO_TOKEN_URL: `http://127.0.0.1:${provider.port}/token`,
    PUBLIC_SSO_CLIENT_ID: 'door',
    PUBLIC_SSO_CLIENT_SECRET: proxyClientSecret,
    PROXY_WORKERS: '2',
    RATE_LIMIT_PER_MIN: '100000',
    WRITE_RATE_LIMIT_PER_MIN: '100000',
    ...env,
  }
  let minted: string | undefined
  const daemons: ServedSite[] = []
  return {
    ...{ site, platform, provider, env: own },
    async serve(more = {}) {
      const served = await site.serve({ ...own, ...more })
      daemons.push(served)
      return served
    },
    token() {
      minted ??= site.run(['token', 'mint', '--subject', 'ada', '--roles', 'admin', '--json']).stdout
      return (JSON.parse(minted) as { token: string }).token
    },
    async close() {
      for (const served of daemons.splice(0)) await served.stop()
      site.remove()
      await Promise.all([platform.close(), provider.close()])
    },
  }
}

/** One request from a source that the trusted hop names. */
export function sendProxyRequest(
  served: ServedSite,
  path: string,
  sent: Partial<ExactRequest> & { source?: string } = {},
): Promise<ExactResponse> {
  const { source = '192.0.2.1', ...more } = sent
  const port = served.ports.proxy ?? 0
  return sendExactRequest({
    method: 'GET',
    ...more,
    port,
    path,
    headers: { 'x-forwarded-for': source, ...more.headers },
  })
}

export type ProxyRecord = {
  readonly source: string
  readonly method: string
  readonly path: string
  readonly verdict: string
  readonly status: number
  readonly upstream_status: number | null
  readonly reason: string
  readonly rule?: string
}

/** All audit records, newest first, once there are so many. */
export async function waitForRecords(proxy: PackagedProxy, count: number): Promise<ProxyRecord[]> {
  const deadline = performance.now() + 30_000
  for (;;) {
    const items = await listRecords(proxy)
    if (items.length === count) return items
    if (performance.now() > deadline) throw new Error(`${items.length} records, where ${count} were to be`)
    await pause(100)
  }
}

/** As many as there are now. */
export async function listRecords(proxy: PackagedProxy): Promise<ProxyRecord[]> {
  const items: ProxyRecord[] = []
  for (let cursor = ''; ; ) {
    const answer = await sendToLocalSocket(proxy, `/api/v2/proxy/record?limit=500${cursor && `&cursor=${cursor}`}`)
    const page = answer.json as { items: ProxyRecord[]; next_cursor?: string }
    items.push(...page.items)
    if (page.next_cursor === undefined) return items
    cursor = encodeURIComponent(page.next_cursor)
  }
}

/** An operation for the site's own people, with everything permitted. */
export function sendToLocalSocket(
  proxy: PackagedProxy,
  path: string,
  sent: Partial<ExactRequest> = {},
): Promise<ExactResponse> {
  const socket = join(proxy.site.dir, 'run', 'proxy', 'sock')
  return sendExactRequest({ port: 0, socket, method: 'GET', path, token: proxy.token(), ...sent })
}

/** The number of records for each reason. */
export function countReasons(records: readonly ProxyRecord[]): Record<string, number> {
  const counts: Record<string, number> = {}
  for (const { reason } of records) counts[reason] = (counts[reason] ?? 0) + 1
  return counts
}

/** Name with labels to value. */
export async function readProxyMetrics(of: PackagedProxy): Promise<Map<string, string>> {
  const { text } = await sendToLocalSocket(of, '/metrics')
  return new Map(text.split('\n').map((line) => line.split(/ (?=[^ ]*$)/) as [string, string]))
}

/** Requests that the proxy has counted, by its own metric. */
export async function readRequestCount(of: PackagedProxy): Promise<number> {
  const totals = [...(await readProxyMetrics(of))].filter(([name]) => name.startsWith('proxy_request_total{'))
  return totals.reduce((sum, [, count]) => sum + Number(count), 0)
}
