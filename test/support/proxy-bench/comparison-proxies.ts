// Widely used proxies, each set up to do the same work as far as it can: nginx, nginx with Redis, HAProxy, Fastify.
import { writeFileSync } from 'node:fs'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { type BenchCores, benchCores, type PinnedProgram, startPinnedProgram } from './pinned-program.ts'

export type ProxyBenchSetup = { readonly folder: string; readonly upstream: number; readonly redis: number }

/** As many as no load here comes near, so that all of them count and none refuses. */
const limit_per_min = 60_000_000
const token = 'bench-token'
const prefix = '/public-api'

/** The service behind the proxy: 200 bytes, on the core of the load. */
export function startUpstream(folder: string, port: number): Promise<PinnedProgram> {
  const body = JSON.stringify({ report: 'x'.repeat(180) })
  const conf = formatNginxConf(
    folder,
    '',
    `keepalive_requests 1000000000; access_log off; server { listen 127.0.0.1:${port} backlog=1024;
      location / { default_type application/json; return 200 '${body}'; } }`,
  )
  return startNginx(conf, folder, 'upstream', port, benchCores.around)
}

/** One event of an event stream, as its service writes it. */
export const event_text = `id: 1\nevent: changed\ndata: ${JSON.stringify({ report: 'x'.repeat(80) })}\n\n`

/** The service behind the proxy for streams: `/events` for a second, and large bodies at other paths. */
export function startStreamUpstream(port: number): Promise<PinnedProgram> {
  const file = fileURLToPath(new URL('./stream-upstream.mjs', import.meta.url))
  return startPinnedProgram(benchCores.around, [process.execPath, file], port, {
    UPSTREAM_PORT: String(port),
    EVENT_TEXT: event_text,
  })
}

/** `cached`: answers come from its cache after the first. */
export function startNginxLimit(
  { folder, upstream }: ProxyBenchSetup,
  port: number,
  cached = false,
): Promise<PinnedProgram> {
  const zone = `limit_req_zone $http_x_forwarded_for zone=sources:10m rate=${limit_per_min}r/m;`
  const cache = `proxy_cache_path ${folder}/cache keys_zone=answers:10m;`
  const use = cached ? 'proxy_cache answers; proxy_cache_valid 200 10m;' : ''
  const conf = formatNginxConf(
    folder,
    '',
    `${zone} ${cached ? cache : ''} ${formatUpstreamBlock(upstream)}
    server { listen 127.0.0.1:${port} backlog=1024; ${formatLogging(folder)}
      location = ${prefix}/api/v1/report { limit_req zone=sources burst=100000 nodelay; ${use} ${nginxForwarding} }
      location / { return 404; } }`,
  )
  return startNginx(conf, folder, cached ? 'cache' : 'limit', port, benchCores.measured)
}

/** Routes by the table of a site, as `platform routes --format nginx` renders it. */
export function startNginxRouting(
  { folder }: Pick<ProxyBenchSetup, 'folder'>,
  port: number,
  rendered: string,
): Promise<PinnedProgram> {
  const conf = formatNginxConf(folder, '', `${formatLogging(folder)}\n${rendered}`)
  return startNginx(conf, folder, 'routing', port, benchCores.measured)
}

/** The counter in Redis by a script of its own, as the documentation of such set-ups shows it: one question a request. */
export function startNginxRedis({ folder, upstream, redis }: ProxyBenchSetup, port: number): Promise<PinnedProgram> {
  const lua = `
    local socket = ngx.socket.tcp()
    socket:settimeout(1000)
    if not socket:connect("127.0.0.1", ${redis}) then return ngx.exit(503) end
    local key = "limit:" .. (ngx.var.http_x_forwarded_for or "")
    local script = "local n = redis.call('INCR', KEYS[1]) if n == 1 then redis.call('EXPIRE', KEYS[1], 60) end return n"
    socket:send({ "*4\\r\\n$4\\r\\nEVAL\\r\\n$", #script, "\\r\\n", script, "\\r\\n$1\\r\\n1\\r\\n$", #key, "\\r\\n", key, "\\r\\n" })
    local line = socket:receive("*l")
    if not line or line:byte(1) ~= 58 then return ngx.exit(503) end
    socket:setkeepalive(60000, 256)
    if tonumber(line:sub(2)) > ${limit_per_min} then return ngx.exit(429) end`
  const modules = '/usr/lib/nginx/modules'
  const load = `load_module ${modules}/ndk_http_module.so; load_module ${modules}/ngx_http_lua_module.so;`
  const conf = formatNginxConf(
    folder,
    load,
    `${formatUpstreamBlock(upstream)} server { listen 127.0.0.1:${port} backlog=1024; ${formatLogging(folder)}
      location = ${prefix}/api/v1/report { access_by_lua_block { ${lua} } ${nginxForwarding} }
      location / { return 404; } }`,
  )
  return startNginx(conf, folder, 'redis', port, benchCores.measured)
}

export function startHaproxy({ folder, upstream }: ProxyBenchSetup, port: number): Promise<PinnedProgram> {
  const file = path.join(folder, 'haproxy.cfg')
  writeFileSync(
    file,
    `global
  nbthread 1
  maxconn 4096
defaults
  mode http
  timeout connect 5s
  timeout client 60s
  timeout server 60s
  http-reuse always
frontend door
  bind 127.0.0.1:${port}
  stick-table type string len 64 size 100k expire 60s store http_req_rate(60s)
  http-request track-sc0 req.hdr(x-forwarded-for)
  http-request deny deny_status 429 if { sc_http_req_rate(0) gt ${limit_per_min} }
  http-request deny deny_status 404 unless METH_GET { path ${prefix}/api/v1/report }
  http-request replace-path ${prefix}(/.*) \\1
  http-request set-header Authorization "Bearer ${token}"
  default_backend service
backend service
  server one 127.0.0.1:${upstream}
`,
  )
  return startPinnedProgram(benchCores.measured, ['haproxy', '-db', '-f', file], port)
}

/** `PROXY_PEERS` names a folder where the packages of `fastify-peer.mjs` are installed. */
export function startFastify(
  { upstream, redis }: ProxyBenchSetup,
  port: number,
  packages: string,
): Promise<PinnedProgram> {
  const file = fileURLToPath(new URL('./fastify-peer.mjs', import.meta.url))
  return startPinnedProgram(benchCores.measured, [process.execPath, file], port, {
    PEER_PACKAGES: packages,
    PEER_PORT: String(port),
    PEER_UPSTREAM: String(upstream),
    PEER_REDIS: String(redis),
    PEER_LIMIT: String(limit_per_min),
    NODE_ENV: 'production',
  })
}

const nginxForwarding = `rewrite ^${prefix}(/.*)$ $1 break; proxy_pass http://service; proxy_http_version 1.1;
  proxy_set_header Connection ""; proxy_set_header Authorization "Bearer ${token}"; proxy_hide_header X-Powered-By;`

function formatUpstreamBlock(port: number): string {
  return `upstream service { server 127.0.0.1:${port}; keepalive 128; keepalive_requests 1000000000; }`
}

/** One line a request, buffered, as an audit would be. */
function formatLogging(folder: string): string {
  return `keepalive_requests 1000000000; access_log ${folder}/access.log combined buffer=64k flush=1s;`
}

function formatNginxConf(folder: string, load: string, http: string): string {
  return `${load} daemon off; user root; worker_processes 1; error_log ${folder}/error.log;
events { worker_connections 4096; }
http { client_body_temp_path ${folder}/bodies; proxy_temp_path ${folder}/proxied; fastcgi_temp_path ${folder}/f;
  uwsgi_temp_path ${folder}/u; scgi_temp_path ${folder}/s; ${http} }
`
}

function startNginx(
  conf: string,
  folder: string,
  name: string,
  port: number,
  core: BenchCores,
): Promise<PinnedProgram> {
  const file = path.join(folder, `${name}.conf`)
  writeFileSync(file, `${conf}pid ${folder}/${name}.pid;\n`)
  return startPinnedProgram(core, ['nginx', '-c', file, '-p', folder], port)
}
