// Replaces the site's certificate by one with a new key and the same names.
import { offline } from '../../../../daemon/offline/offline.ts'
import { passphraseOption, resolvePassphrase } from '../../../options/passphrase.ts'
import { jsonOption, requireWholeSite, siteOption } from '../../../options/site-options.ts'
import { command } from '../../../program/command.ts'
import { integer, withDefault } from '../../../program/params.ts'
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
    days: withDefault(90, integer('DAYS', 'Days of validity', 1, 825)),
    ...passphraseOption,
    ...siteOption,
    ...jsonOption,
  },
  example: 'platform keys cert renew',
  async run({ days, ...params }, terminal) {
    const folder = await requireWholeSite(params, terminal, [params.passphraseFile])
    const { renewSiteCertificate } = await offline.certificate()
    const passphrase = await resolvePassphrase(terminal, params, folder, 'authority')
    const certificate = await renewSiteCertificate(folder, terminal.env, {
      days,
      now: Date.now(),
      passphrase: () => passphrase,
    })
    printResult(terminal, params.json, certificate, () => formatFields(terminal, certificate))
    return 0
  },
})
