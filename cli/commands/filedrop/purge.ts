// Removes a spilled body everywhere on the site, and lists the places that it could not reach.

import type { ServiceClient } from '../../client/client.ts'
import { requireConsent } from '../../confirmation/require-consent.ts'
import { connectService, serviceOptions } from '../../options/service-options.ts'
import { command, InvalidParamError } from '../../program/command.ts'
import { flag, required, text } from '../../program/params.ts'
import { colourText, line_break, printResult } from '../../terminal/output.ts'
import type { Terminal } from '../../terminal/terminal.ts'

type PurgeReport = {
  readonly bodies: readonly string[]
  readonly places: readonly string[]
  readonly msg_ids: readonly string[]
  readonly sessions: readonly string[]
  readonly backups: readonly { readonly name: string; readonly holds: 'yes' | 'unknown' }[]
  readonly remains: readonly string[]
}

export const definition = command({
  words: 'filedrop purge',
  summary: 'Remove a spilled body everywhere on the site; cannot be undone',
  notes: [
    'Finds it by the SHA-384 of the body or of its statement (`platform filedrop inspect` shows both). The site',
    'keeps the hash, and neither stores nor sends the same bytes again. Safe to repeat: each run reports all that',
    'was ever found.',
  ].join('\n'),
  positionals: { digest: required(digestParam('DIGEST', 'SHA-384 of the body or of its statement')) },
  options: {
    reason: required(text('TEXT', 'Reason, kept in the audit chain')),
    yes: flag('Skip the confirmation'),
    ...serviceOptions,
  },
  example: 'platform filedrop purge 38b060a7… --reason "SECRET report sent as RESTRICTED" --yes',
  async run({ digest, reason, yes, ...params }, terminal) {
    const api = await connectService(params, terminal)
    await requireConsent(terminal, yes, `Remove the body ${digest} from this site for good?`)
    const report = await purgeUntilDone(api, { digest, reason }, terminal)
    printResult(terminal, params.json, report, () => formatPurgeReport(terminal, report))
    return 0
  },
})

function digestParam(metavar: string, help: string) {
  const parse = (params: string) => {
    if (!/^[0-9a-f]{96}$/i.test(params)) throw new InvalidParamError('it must be 96 hexadecimal digits')
    return params.toLowerCase()
  }
  return { ...text(metavar, help), parse }
}

/** Repeats the request until the purge is done. Large folders take longer than one response may; the service continues. */
async function purgeUntilDone(
  api: ServiceClient,
  request: { digest: string; reason: string },
  terminal: Terminal,
): Promise<PurgeReport> {
  for (let attempt = 1; ; attempt++) {
    const response = await api.call('site.message.purge', request)
    if (response.state === 'done') {
      terminal.progress('')
      return response as unknown as PurgeReport
    }
    terminal.progress(`searching every folder${'.'.repeat(attempt % 4)}`)
  }
}

function formatPurgeReport(
  terminal: Terminal,
  { bodies, places, msg_ids, sessions, backups, remains }: PurgeReport,
): string {
  const formatSection = (heading: string, lines: readonly string[]) =>
    lines.length === 0 ? [] : [colourText(terminal, 'bold', heading), ...lines.map((line) => `  ${line}`)]
  return [
    ...formatSection('purged, by SHA-384 of the body', bodies),
    ...(places.length > 0
      ? formatSection('removed from', places)
      : ['it is not on this site; it is refused if it arrives']),
    ...formatSection('of the messages', msg_ids),
    ...formatSection('sessions that used them: review their results', sessions),
    ...formatSection(
      'backups that may still contain it: remove or overwrite them',
      backups.map(({ name, holds }) => (holds === 'yes' ? name : `${name} (not searched)`)),
    ),
    ...formatSection('not reached from here', remains),
  ].join(line_break)
}
