// Says what the public door would have done with the requests of an access log.
import { offline } from '../../../daemon/boot/offline.ts'
import { command } from '../../command.ts'
import { fields, show, table } from '../../output.ts'
import { needed, otherwise, text, whole } from '../../params.ts'
import { jsonOption, requireSite, siteOption } from '../../site.ts'

export const definition = command({
  words: 'proxy simulate',
  summary: 'run an access log against the allowlist and the limits of the profile',
  notes: [
    'Takes the combined format of nginx and Apache, and JSON lines as they, Caddy, Traefik and Envoy write them.',
    'Sends nothing. Limits count by the times of the log; bodies, tokens and cached answers are not in a log.',
  ].join('\n'),
  takes: { file: needed(text('FILE', 'the log')) },
  options: {
    top: otherwise(20, whole('COUNT', 'show so many of what would be denied', 1, 1_000)),
    ...siteOption,
    ...jsonOption,
  },
  example: 'platform proxy simulate /var/log/nginx/access.log',
  async run(given, terminal) {
    const { simulate } = await offline.door()
    const found = await simulate(requireSite(given, terminal), terminal.env, given.file, given.top)
    const { denied, top_denied, rules, ...sums } = found
    show(terminal, given.json, found, () =>
      [
        fields(terminal, sums),
        table(terminal, denied, ['reason', 'count'], 'nothing would be denied'),
        ...(top_denied.length > 0 ? [table(terminal, top_denied, ['method', 'path', 'reason', 'count'], '')] : []),
        table(terminal, rules, ['rule', 'count'], 'the allowlist is empty'),
      ].join('\n\n'),
    )
    return 0
  },
})
