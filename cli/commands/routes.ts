// Prints the routing table of a site.
import { offline } from '../../daemon/offline/offline.ts'
import { jsonOption, requireOwnSite, siteOption } from '../options/site-options.ts'
import { command } from '../program/command.ts'
import { formatTable, type OutputRow, printResult } from '../terminal/output.ts'

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
  ].join('\n'),
  options: { ...siteOption, ...jsonOption },
  example: 'platform routes --json',
  async run(params, terminal) {
    const folder = requireOwnSite(params, terminal)
    const { readSiteRoutes } = await offline.routes()
    const { rules, backends } = readSiteRoutes(folder, terminal.env)
    const rows = rules.map(({ ingress, host, prefix, priority, service, isServed }) => ({
      ...{ ingress, host: host ?? null, prefix, priority, service, is_served: isServed },
      backends: backends.get(service) ?? [],
    }))
    printResult(terminal, params.json, { rules: rows }, () => formatTable(terminal, rows, columns, 'no rules'))
    return 0
  },
})
