// Removes a spilled body everywhere on the site, and lists the places that it could not reach.

import type { ServiceClient } from '../../client/client.ts'
import { requireConsent } from '../../confirmation/require-consent.ts'
import { connectService, serviceOptions } from '../../options/service-options.ts'
import { command, InvalidParamError } from '../../program/command.ts'
import { flag, required, text } from '../../program/params.ts'
import { colourText, printResult } from '../../terminal/output.ts'
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
  async run({ digest: wanted, reason, yes, ...given }, terminal) {
    const api = await connectService(given, terminal)
    await requireConsent(terminal, yes, `Remove the body ${wanted} from this site for good?`)
    const done = await purgeUntilDone(api, { digest: wanted, reason }, terminal)
    printResult(terminal, given.json, done, () => formatPurgeReport(terminal, done))
    return 0
  },
})

function digestParam(metavar: string, help: string) {
  const parse = (given: string) => {
    if (!/^[0-9a-f]{96}$/i.test(given)) throw new InvalidParamError('it must be 96 hexadecimal digits')
    return given.toLowerCase()
  }
  return { ...text(metavar, help), parse }
}

/** Large folders take longer than one answer may: the service goes on meanwhile. */
async function purgeUntilDone(
  api: ServiceClient,
  asked: { digest: string; reason: string },
  terminal: Terminal,
): Promise<PurgeReport> {
  for (let asks = 1; ; asks++) {
    const answer = await api.call('site.message.purge', asked)
    if (answer.state === 'done') {
      terminal.progress('')
      return answer as unknown as PurgeReport
    }
    terminal.progress(`searching every folder${'.'.repeat(asks % 4)}`)
  }
}

function formatPurgeReport(
  terminal: Terminal,
  { bodies, places, msg_ids, sessions, backups, remains }: PurgeReport,
): string {
  const listed = (heading: string, lines: readonly string[]) =>
    lines.length === 0 ? [] : [colourText(terminal, 'bold', heading), ...lines.map((line) => `  ${line}`)]
  return [
    ...listed('purged, by SHA-384 of the body', bodies),
    ...(places.length > 0 ? listed('removed from', places) : ['it is not on this site; it is refused if it arrives']),
    ...listed('of the messages', msg_ids),
    ...listed('sessions that used them: review their results', sessions),
    ...listed(
      'backups that may still contain it: remove or overwrite them',
      backups.map(({ name, holds }) => (holds === 'yes' ? name : `${name} (not searched)`)),
    ),
    ...listed('not reached from here', remains),
  ].join('\n')
}
