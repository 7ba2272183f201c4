// Lets a person go: nothing that their key signs counts from now on.
import { offline } from '../../../daemon/boot/offline.ts'
import { command } from '../../command.ts'
import { requireConsent } from '../../consent.ts'
import { show } from '../../output.ts'
import { flag, needed, text } from '../../params.ts'
import { jsonOption, requireSite, siteOption } from '../../site.ts'

export const definition = command({
  words: 'people remove',
  summary: 'revoke a person’s key at once; the record stays',
  notes: 'Also what they requested and nobody has approved yet. A new key of theirs is enrolled by `people add`.',
  takes: { subject: needed(text('SUBJECT', 'as `platform people list` names it')) },
  options: { yes: flag('do not ask'), ...siteOption, ...jsonOption },
  example: 'platform people remove ann --yes',
  async run({ subject, yes, ...given }, terminal) {
    const folder = requireSite(given, terminal)
    const people = await offline.people()
    await people.get(folder, subject)
    await requireConsent(terminal, yes, `Let ${subject} go? Their key counts for nothing from then on.`)
    await people.remove(folder, terminal.env, subject)
    show(terminal, given.json, { removed: subject }, () => `removed ${subject}`)
    return 0
  },
})
