// Replaces the site's certificate by one with a new key and the same names.
import { offline } from '../../../../daemon/boot/offline.ts'
import { command } from '../../../command.ts'
import { fields, show } from '../../../output.ts'
import { otherwise, whole } from '../../../params.ts'
import { passphraseOf, passphraseOption } from '../../../passphrase.ts'
import { jsonOption, requireSite, siteOption } from '../../../site.ts'

export const definition = command({
  words: 'keys cert renew',
  summary: 'replace the site’s certificate: a new key, the same names',
  notes: [
    'By the authority in the site; one that lies elsewhere is asked by `platform keys cert request`. A daemon that runs takes',
    'it up within seconds; connections that are open go on. Peers pin the authority, so they need not be told.',
  ].join('\n'),
  options: {
    days: otherwise(90, whole('DAYS', 'that it lasts', 1, 825)),
    ...passphraseOption,
    ...siteOption,
    ...jsonOption,
  },
  example: 'platform keys cert renew',
  async run({ days, ...given }, terminal) {
    const folder = requireSite(given, terminal)
    const { renewOwn } = await offline.certificate()
    const passphrase = await passphraseOf(terminal, given, folder, 'authority')
    const made = await renewOwn(folder, terminal.env, { days, now: Date.now(), passphrase: () => passphrase })
    show(terminal, given.json, made, () => fields(terminal, made))
    return 0
  },
})
