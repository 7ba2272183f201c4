// Prints the routing table of a site, as a table or as the configuration of a server that routes by it.
import { product } from '../../adapters/platform/product/product.ts'
import { offline } from '../../daemon/offline/offline.ts'
import { jsonOption, requireOwnSite, siteOption } from '../options/site-options.ts'
import { CommandFailure, command } from '../program/command.ts'
import { choice, text, withDefault } from '../program/params.ts'
import { formatTable, keepLayout, type OutputRow, printResult } from '../terminal/output.ts'

const formats = ['table', 'kubernetes', 'nginx', 'caddy'] as const

const columns = [
  { heading: 'host', cell: ({ host }: OutputRow) => host ?? '*' },
  'prefix',
  'priority',
  'service',
  { heading: 'backends', cell: ({ is_served, backends }: OutputRow) => (is_served ? backends : 'no_backend') },
]

export const definition = command({
  words: 'routes',
  summary: 'Print the routing table of the site',
  notes: [
    'By the profile: the roles that it runs, and ingress.backends. The rule of a request is the one with the longest',
    'prefix of whole segments, among those of its host if it has any; of two with one prefix, that of the higher priority.',
    'A rule without backends is answered with 503 no_backend.',
    '',
    'kubernetes prints objects for kubectl apply: ingresses, and the roles of the profile with their rights and sizes;',
    'nginx a file for the block http of nginx, caddy a Caddyfile.',
  ].join('\n'),
  options: {
    format: withDefault('table', choice('FORMAT', 'Form of the output', formats)),
    listen: withDefault('8080', text('ADDRESS', 'Port, or host:port, at which nginx or Caddy listens')),
    namespace: withDefault('platform', text('NAME', 'Namespace of the objects of Kubernetes')),
    image: withDefault(`${product.name}:${product.version}`, text('IMAGE', 'Image of the containers of Kubernetes')),
    ...siteOption,
    ...jsonOption,
  },
  example: 'platform routes --format nginx > routes.conf',
  async run({ format, listen, namespace, image, ...params }, terminal) {
    if (params.json && format !== 'table')
      throw new CommandFailure(2, `${format} has a form of its own`, 'leave --json or --format out')
    if (!/^((\[[0-9A-Fa-f:]+\]|[\w.-]+):)?\d{1,5}$/.test(listen))
      throw new CommandFailure(2, `"${listen}" is not a port, or host and port`)
    if (!/^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/.test(namespace))
      throw new CommandFailure(2, `"${namespace}" is not a name of a namespace`)
    const folder = requireOwnSite(params, terminal)
    const { readSiteRoutes, renderClusterObjects, renderSiteRoutes } = await offline.routes()
    const routes = readSiteRoutes(folder, terminal.env)
    if (format !== 'table') {
      const rendered =
        format === 'kubernetes'
          ? renderClusterObjects(routes, { namespace, image })
          : renderSiteRoutes(routes, format, listen)
      terminal.print(keepLayout(rendered.trimEnd()))
      return 0
    }
    const rows = routes.rules.map(({ ingress, host, prefix, priority, service, isServed }) => ({
      ...{ ingress, host: host ?? null, prefix, priority, service, is_served: isServed },
      backends: routes.backends.get(service) ?? [],
    }))
    printResult(terminal, params.json, { rules: rows }, () => formatTable(terminal, rows, columns, 'no rules'))
    return 0
  },
})
