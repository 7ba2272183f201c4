// Lets a person go: nothing that their key signs counts from now on.
import { offline } from '../../../daemon/offline/offline.ts'
import { requireConsent } from '../../confirmation/require-consent.ts'
import { jsonOption, requireSite, siteOption } from '../../options/site-options.ts'
import { command } from '../../program/command.ts'
import { flag, required, text } from '../../program/params.ts'
import { printResult } from '../../terminal/output.ts'

export const definition = command({
  words: 'people remove',
  summary: 'revoke a person’s key at once; the record stays',
  notes: 'Also what they requested and nobody has approved yet. A new key of theirs is enrolled by `people add`.',
  positionals: { subject: required(text('SUBJECT', 'as `platform people list` names it')) },
  options: { yes: flag('do not ask'), ...siteOption, ...jsonOption },
  example: 'platform people remove ann --yes',
  async run({ subject, yes, ...given }, terminal) {
    const folder = requireSite(given, terminal)
    const people = await offline.people()
    await people.getPerson(folder, subject)
    await requireConsent(terminal, yes, `Let ${subject} go? Their key counts for nothing from then on.`)
    await people.removePerson(folder, terminal.env, subject)
    printResult(terminal, given.json, { removed: subject }, () => `removed ${subject}`)
    return 0
  },
})
