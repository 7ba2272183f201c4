// The routing table as a Caddyfile.
import { isRefusal, type Refusal } from '../../../kernel/error/errors.ts'
import { groupRoutes, type HostRoutes, listEffectiveRoutes, type RouteGroup } from './effective-routes.ts'
import { formatProxyProblem, proxyAnswers } from './proxy-answers.ts'
import { dropped_fields, listUpstreams, type ProxyRoutes, type ProxyUpstream } from './render-proxy.ts'
import { allowed_target, refused_target } from './request-form.ts'

export function renderCaddy(routes: ProxyRoutes): string | Refusal {
  const upstreams = listUpstreams(routes)
  if (isRefusal(upstreams)) return upstreams
  const byService = new Map(upstreams.map((upstream) => [upstream.service, upstream]))
  const [, host, port] = /^(?:(.*):)?(\d+)$/.exec(routes.address) ?? []
  const hosts = listEffectiveRoutes(routes.rules).map((host) => formatHost(host, byService))
  return [
    '# By `platform routes --format caddy`.',
    '(platform_forward) {',
    ...indent([...dropped_fields.map((field) => `header_up -${field}`), 'flush_interval -1']),
    '}',
    '',
    `:${port} {`,
    ...indent(host === undefined ? [] : [`bind ${host}`]),
    ...indent(formMatchers),
    ...indent(['route {', ...indent([...formatRefusals(), ...hosts.flat()]), '}']),
    '}',
    '',
  ].join('\n')
}

const raw_target = '{http.request.orig_uri}'
/** The matcher `path` would ignore letter case, so every path is matched by an expression. */
const formMatchers: readonly string[] = [
  `@unknown_form not vars_regexp form ${raw_target} \`${allowed_target}\``,
  `@ambiguous vars_regexp fault ${raw_target} \`${refused_target}\``,
  '@other_upgrade {',
  '    header Upgrade *',
  '    not header_regexp Upgrade (?i)^websocket$',
  '}',
]

/** Only WebSocket is upgraded: an upgrade to h2c would pass by every rule below. */
function formatRefusals(): string[] {
  return [
    ...formatAnswer('@unknown_form', 'malformed'),
    ...formatAnswer('@ambiguous', 'malformed'),
    'request_header @other_upgrade -Upgrade',
  ]
}

/** A host has its own rules alone; those of any other host are outside of a block. */
function formatHost({ host, rules }: HostRoutes, upstreams: ReadonlyMap<string, ProxyUpstream>): string[] {
  const id = host?.replaceAll(/[^a-z0-9]/g, '_') ?? 'any'
  const lines = [
    ...groupRoutes(rules).flatMap((group, at) =>
      formatGroup(`@${id}_${at + 1}`, group, upstreams.get(group.service ?? '')),
    ),
    ...formatAnswer('*', 'not_found'),
  ]
  // A name with the dot of the root at its end is the same host.
  return host === undefined ? lines : [`@${id} host ${host} ${host}.`, `route @${id} {`, ...indent(lines), '}']
}

function formatGroup(matcher: string, { prefixes }: RouteGroup, upstream: ProxyUpstream | undefined): string[] {
  const isEverything = prefixes.includes('/')
  const name = isEverything ? '*' : matcher
  const alternatives = prefixes.map((prefix) => prefix.slice(1).replaceAll('.', '[.]'))
  const expression = `\`^/(?:${alternatives.join('|')})(?:/|$)\``
  const definition = isEverything ? [] : [`${matcher} path_regexp ${matcher.slice(1)} ${expression}`]
  return [...definition, ...(upstream ? formatProxy(name, upstream) : formatAnswer(name, 'no_backend'))]
}

function formatProxy(matcher: string, { scheme, members }: ProxyUpstream): string[] {
  const urls = members.map((member) => `${scheme}://${member}`)
  return [`reverse_proxy ${matcher} ${urls.join(' ')} {`, '    import platform_forward', '}']
}

function formatAnswer(matcher: string, code: keyof typeof proxyAnswers): string[] {
  const body = formatProxyProblem(code, '{http.request.uuid}')
  return [
    `header ${matcher} Content-Type application/problem+json`,
    `respond ${matcher} \`${body}\` ${proxyAnswers[code].status}`,
  ]
}

const indent = (lines: readonly string[]) => lines.map((line) => `    ${line}`)
