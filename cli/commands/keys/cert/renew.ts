// Replaces the certificate of the site, or of a role, by one with a new key and the same names.
import { offline } from '../../../../daemon/offline/offline.ts'
import { passphraseOption, resolvePassphrase } from '../../../options/passphrase.ts'
import { jsonOption, requireWholeSite, siteOption } from '../../../options/site-options.ts'
import { command } from '../../../program/command.ts'
import { integer, text, withDefault } from '../../../program/params.ts'
import { formatFields, printResult } from '../../../terminal/output.ts'

export const definition = command({
  words: 'keys cert renew',
  summary: 'Replace the site’s certificate: a new key, the same names',
  notes: [
    'Uses the authority in the site; for one that is elsewhere, use `platform keys cert request`. A running',
    'daemon loads the certificate within seconds; open connections continue. Peers pin the authority and need no',
    'change.',
  ].join('\n'),
  options: {
    role: text('ROLE', 'Replace the certificate of this role (default: that of the site)'),
    days: withDefault(90, integer('DAYS', 'Days of validity', 1, 825)),
    ...passphraseOption,
    ...siteOption,
    ...jsonOption,
  },
  example: 'platform keys cert renew',
  async run({ role, days, ...params }, terminal) {
    const folder = await requireWholeSite(params, terminal, [params.passphraseFile])
    const passphrase = await resolvePassphrase(terminal, params, folder, 'authority')
    const terms = { days, now: Date.now(), passphrase: () => passphrase }
    const certificate =
      role === undefined
        ? await (await offline.certificate()).renewSiteCertificate(folder, terminal.env, terms)
        : await (await offline.roleCertificate()).renewRoleCertificate(folder, terminal.env, role, terms)
    printResult(terminal, params.json, certificate, () => formatFields(terminal, certificate))
    return 0
  },
})
