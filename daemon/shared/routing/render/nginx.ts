// The routing table as a configuration of nginx: a file for its block `http`.
import { isRefusal, type Refusal } from '../../../kernel/error/errors.ts'
import type { RoutingRule } from '../routing-table.ts'
import { type HostRoutes, listEffectiveRoutes } from './effective-routes.ts'
import { formatProxyProblem, proxyAnswers } from './proxy-answers.ts'
import { dropped_fields, listUpstreams, type ProxyRoutes, type ProxyUpstream } from './render-proxy.ts'
import { allowed_target, refused_target } from './request-form.ts'

export function renderNginx(routes: ProxyRoutes): string | Refusal {
  const upstreams = listUpstreams(routes)
  if (isRefusal(upstreams)) return upstreams
  const schemes = new Map(upstreams.map((upstream) => [upstream.service, upstream]))
  const servers = listEffectiveRoutes(routes.rules).map((host) => formatServer(host, routes.address, schemes))
  return [...formatMaps(), ...upstreams.flatMap(formatUpstream), ...servers.flat(), ''].join('\n')
}

/** Expressions are tried in this order. Only WebSocket is upgraded: an upgrade to h2c would pass by every rule below. */
function formatMaps(): string[] {
  return [
    '# Include this file in the block `http`. By `platform routes --format nginx`.',
    'map $request_uri $platform_target {',
    `    "~${refused_target}" refused;`,
    `    "~${allowed_target}" allowed;`,
    '    default refused;',
    '}',
    'map $http_upgrade $platform_upgrade { default ""; ~*^websocket$ websocket; }',
    'map $http_upgrade $platform_connection { default ""; ~*^websocket$ upgrade; }',
    '',
  ]
}

const nameUpstream = (service: string) => `platform-${service}`

function formatUpstream({ service, members }: ProxyUpstream): string[] {
  const servers = members.map((member) => `    server ${member};`)
  return [`upstream ${nameUpstream(service)} {`, ...servers, '    keepalive 32;', '}', '']
}

function formatServer({ host, rules }: HostRoutes, address: string, upstreams: ReadonlyMap<string, ProxyUpstream>) {
  const hasRoot = rules.some(({ prefix }) => prefix === '/')
  return [
    'server {',
    ...indent([
      host === undefined ? `listen ${address} default_server;` : `listen ${address};`,
      `server_name ${host ?? '_'};`,
      ...serverSettings,
      `if ($platform_target = refused) { ${formatReturn('malformed')} }`,
      ...rules.flatMap((rule) => formatLocations(rule, upstreams)),
      ...(hasRoot ? [] : [`location / { ${formatReturn('not_found')} }`]),
    ]),
    '}',
    '',
  ]
}

/** Bodies and answers stream in both directions; services have limits of their own. */
const serverSettings: readonly string[] = [
  'default_type application/problem+json;',
  'client_max_body_size 0;',
  'proxy_http_version 1.1;',
  'proxy_buffering off;',
  'proxy_request_buffering off;',
  'proxy_read_timeout 1h;',
  'proxy_send_timeout 1h;',
  'proxy_set_header Host $http_host;',
  'proxy_set_header Upgrade $platform_upgrade;',
  'proxy_set_header Connection $platform_connection;',
  'proxy_set_header X-Forwarded-For $remote_addr;',
  'proxy_set_header X-Forwarded-Proto $scheme;',
  'proxy_set_header X-Forwarded-Host $http_host;',
  'proxy_set_header X-Forwarded-Port $server_port;',
  ...dropped_fields.map((field) => `proxy_set_header ${field} "";`),
]

/** Without the location of the prefix itself, nginx would redirect it to the one with a slash at its end. */
function formatLocations({ prefix, service }: RoutingRule, upstreams: ReadonlyMap<string, ProxyUpstream>): string[] {
  const content = formatContent(upstreams.get(service))
  const below = prefix === '/' ? '/' : `${prefix}/`
  return [...(prefix === '/' ? [] : [`location = ${prefix} { ${content} }`]), `location ${below} { ${content} }`]
}

function formatContent(upstream: ProxyUpstream | undefined): string {
  if (!upstream) return formatReturn('no_backend')
  const { service, scheme, members } = upstream
  const pass = `proxy_pass ${scheme}://${nameUpstream(service)};`
  if (scheme === 'http') return pass
  const name = members[0]?.replace(/:\d+$/, '')
  return `${pass} proxy_ssl_verify on; proxy_ssl_trusted_certificate ${authorities_file}; proxy_ssl_server_name on; proxy_ssl_name ${name};`
}

const authorities_file = '/etc/ssl/certs/ca-certificates.crt'

function formatReturn(code: keyof typeof proxyAnswers): string {
  return `return ${proxyAnswers[code].status} '${formatProxyProblem(code, '$request_id')}';`
}

const indent = (lines: readonly string[]) => lines.map((line) => `    ${line}`)
