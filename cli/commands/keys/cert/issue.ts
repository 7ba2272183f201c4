// Issues a certificate: the site's own with a new key, or one that another site has requested.
import { offline } from '../../../../daemon/offline/offline.ts'
import { requireConsent } from '../../../confirmation/require-consent.ts'
import { readInputFile } from '../../../file/input-file.ts'
import { writeOutputFile } from '../../../file/output-file.ts'
import { dirOption, resolveKeyLocation } from '../../../options/key-location.ts'
import { passphraseOption, resolvePassphrase } from '../../../options/passphrase.ts'
import { jsonOption, siteOption } from '../../../options/site-options.ts'
import { CommandFailure, command } from '../../../program/command.ts'
import { flag, integer, nameList, text, withDefault } from '../../../program/params.ts'
import { formatFields, printResult } from '../../../terminal/output.ts'

export const definition = command({
  words: 'keys cert issue',
  summary: 'Issue a certificate with the authority of `keys ca init`',
  notes: [
    'Without REQUEST, issues the site’s own certificate with a new key; a running daemon loads it within seconds.',
    'With REQUEST, shows and signs a request of `platform keys cert request`, and writes the certificate to',
    '--out.',
  ].join('\n'),
  positionals: {
    request: text('REQUEST', 'Certificate request of a site (default: issue the site’s own certificate)'),
  },
  options: {
    hosts: nameList('A,B', 'Host names and addresses to include, for other programs; peers ignore them'),
    days: withDefault(90, integer('DAYS', 'Days of validity', 1, 825)),
    out: text('FILE', 'With REQUEST: file to create for the certificate'),
    yes: flag('Skip the confirmation'),
    ...passphraseOption,
    ...dirOption,
    ...siteOption,
    ...jsonOption,
  },
  example: 'platform keys cert issue --hosts alpha.example,192.0.2.7',
  async run({ hosts, days, out, yes, ...given }, terminal) {
    const place = resolveKeyLocation(given, terminal)
    const found = 'dir' in place ? { keys: place.dir } : place.site
    const { issueRequestedCertificate, issueSiteCertificate, requireCertificateRequest } = await offline.certificate()
    if (given.request === undefined) {
      if ('dir' in place || out !== undefined) {
        throw new CommandFailure(2, '--dir and --out need a REQUEST; the site’s own certificate is made in the site')
      }
      const passphrase = await resolvePassphrase(terminal, given, found, 'authority')
      const terms = { days, now: Date.now(), passphrase: () => passphrase }
      const made = await issueSiteCertificate(place.site, terminal.env, hosts, terms)
      printResult(terminal, given.json, made, () => formatFields(terminal, made))
      return 0
    }
    if (out === undefined || hosts.length > 0)
      throw new CommandFailure(2, 'a REQUEST needs --out, and already contains its hosts: leave out --hosts')
    const asked = await requireCertificateRequest(readInputFile(given.request))
    const { site, dns, ip } = asked.names
    terminal.note(formatFields(terminal, { site, hosts: [...dns, ...ip].join(', ') || undefined, days }))
    await requireConsent(terminal, yes, `Sign a certificate of the site ${site}?`)
    const passphrase = await resolvePassphrase(terminal, given, found, 'authority')
    const terms = { days, now: Date.now(), passphrase: () => passphrase }
    writeOutputFile(out, await issueRequestedCertificate(found, terminal.env, asked, terms))
    printResult(terminal, given.json, { file: out, site }, () => `${out} holds the certificate of ${site}`)
    return 0
  },
})
