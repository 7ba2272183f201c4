// Revokes a person's key: its signatures do not count from now on.
import { offline } from '../../../daemon/offline/offline.ts'
import { requireConsent } from '../../confirmation/require-consent.ts'
import { jsonOption, requireOwnSite, siteOption } from '../../options/site-options.ts'
import { command } from '../../program/command.ts'
import { flag, required, text } from '../../program/params.ts'
import { printResult } from '../../terminal/output.ts'

export const definition = command({
  words: 'people remove',
  summary: 'Revoke a person’s key at once; the record stays',
  notes: [
    'Also revokes their requests that nobody has approved yet. Enrol a new key of theirs with `platform people',
    'add`.',
  ].join('\n'),
  positionals: { subject: required(text('SUBJECT', 'Subject, as listed by `platform people list`')) },
  options: { yes: flag('Skip the confirmation'), ...siteOption, ...jsonOption },
  example: 'platform people remove ann --yes',
  async run({ subject, yes, ...params }, terminal) {
    const folder = requireOwnSite(params, terminal)
    const people = await offline.people()
    await people.getPerson(folder, subject)
    await requireConsent(terminal, yes, `Revoke the key of ${subject}? Its signatures do not count from then on.`)
    await people.removePerson(folder, terminal.env, subject)
    printResult(terminal, params.json, { removed: subject }, () => `removed ${subject}`)
    return 0
  },
})
