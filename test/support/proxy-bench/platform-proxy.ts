// The public proxy as it is shipped, set up to do all of its work: rules, counter in Redis, token, audit, header rules.
import { execFileSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import path from 'node:path'
import type { ProxyBenchSetup } from './comparison-proxies.ts'
import { benchCores, type PinnedProgram, startPinnedProgram } from './pinned-program.ts'

const executable = process.env.PLATFORM_EXECUTABLE ?? path.resolve(import.meta.dirname, '../../../dist/platform')

/** Gives everybody the same token. */
export function startIssuer(port: number): Promise<Server> {
  const server = createServer((_, response) => {
    response.setHeader('content-type', 'application/json')
    response.end('{"access_token":"bench-token","token_type":"Bearer","expires_in":3600}')
  })
  return new Promise((resolve) => server.listen(port, '127.0.0.1', () => resolve(server)))
}

/** Takes all spans, and forgets them. */
export function startCollector(port: number): Promise<Server> {
  const server = createServer((request, response) => {
    request.resume().on('end', () => response.setHeader('content-type', 'application/json').end('{}'))
  })
  return new Promise((resolve) => server.listen(port, '127.0.0.1', () => resolve(server)))
}

export type PlatformProxyOptions = {
  readonly issuer: number
  readonly counter: 'redis' | 'memory'
  readonly cache_mb: number
  /** Share of requests with spans, and the collector that takes them. Absent: no exporter. */
  readonly spans?: { readonly ratio: number; readonly collector: number }
}

/** A site folder of its own in `folder`; the site is made anew each time. */
export function startPlatformProxy(
  around: ProxyBenchSetup,
  port: number,
  { issuer, counter, cache_mb, spans }: PlatformProxyOptions,
): Promise<PinnedProgram> {
  const site = path.join(around.folder, `door-${counter}-${cache_mb}-${spans?.ratio ?? 'none'}`)
  const words = ['init', '--profile', 'public-proxy', '--name', 'door', '--tenant', 'bench', '--yes', '--site', site]
  execFileSync(executable, words, { stdio: 'pipe' })
  const file = path.join(site, 'profile.yaml')
  const profile = readFileSync(file, 'utf8')
    .replace('  # trusted_networks: [10.20.0.0/16]', '  trusted_networks: [127.0.0.1] #')
    .replace('allowlist: []', 'allowlist: ["GET /api/v1/report"] #')
  writeFileSync(file, profile)
  const redis = { KV_HOST: '127.0.0.1', KV_PORT: String(around.redis), KV_VERIFY: 'false' }
  const env = {
    PLATFORM_API_URL: `http://127.0.0.1:${around.upstream}`,
    SSO_TOKEN_URL: `http://127.0.0.1:${issuer}/token`,
    PUBLIC_SSO_CLIENT_ID: 'door',
    PUBLIC_SSO_CLIENT_SECRET: 'bench-secret',
    PROXY_PORT: String(port),
    PROXY_METRICS_LISTEN: '127.0.0.1:0',
    PROXY_WORKERS: '1',
    RATE_LIMIT_PER_MIN: '1000000',
    CACHE_MAX_MB: String(cache_mb),
    CACHE_TTL_S: '600',
    ...(counter === 'redis' ? redis : {}),
    ...(spans ? buildSpanSettings(spans) : {}),
  }
  return startPinnedProgram(benchCores.measured, [executable, 'serve', '--site', site], port, env, '"platform.ready"')
}

function buildSpanSettings({ ratio, collector }: NonNullable<PlatformProxyOptions['spans']>) {
  return { OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${collector}`, PROXY_TRACE_RATIO: String(ratio) }
}
