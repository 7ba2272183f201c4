// Shows how the proxy would have handled the requests of an access log.
import { offline } from '../../../daemon/offline/offline.ts'
import { jsonOption, requireSite, siteOption } from '../../options/site-options.ts'
import { command } from '../../program/command.ts'
import { integer, required, text, withDefault } from '../../program/params.ts'
import { formatFields, formatTable, paragraph_break, printResult } from '../../terminal/output.ts'

export const definition = command({
  words: 'proxy simulate',
  summary: 'Simulate an access log against the allowlist and limits of the profile',
  notes: [
    'Reads the combined format of nginx and Apache, and JSON lines as these, Caddy, Traefik and Envoy write them.',
    'Sends nothing. Limits count by the times of the log; bodies, tokens and cached answers are not in a log.',
  ].join('\n'),
  positionals: { file: required(text('FILE', 'Access log')) },
  options: {
    top: withDefault(20, integer('COUNT', 'Number of denied requests to show', 1, 1_000)),
    ...siteOption,
    ...jsonOption,
  },
  example: 'platform proxy simulate /var/log/nginx/access.log',
  async run(params, terminal) {
    const { simulateAccessLog } = await offline.proxyRules()
    const simulation = await simulateAccessLog(requireSite(params, terminal), terminal.env, params.file, params.top)
    const { denied, top_denied, rules, ...sums } = simulation
    printResult(terminal, params.json, simulation, () =>
      [
        formatFields(terminal, sums),
        formatTable(terminal, denied, ['reason', 'count'], 'nothing would be denied'),
        ...(top_denied.length > 0
          ? [formatTable(terminal, top_denied, ['method', 'path', 'reason', 'count'], '')]
          : []),
        formatTable(terminal, rules, ['rule', 'count'], 'the allowlist is empty'),
      ].join(paragraph_break),
    )
    return 0
  },
})
