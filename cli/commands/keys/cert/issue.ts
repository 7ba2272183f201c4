// Issues a certificate: the site's own or that of a role with a new key, or one that another site has requested.
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
    'With --role, issues the certificate with which this role reaches roles on other machines, and these reach it.',
    'With REQUEST, shows and signs a request of `platform keys cert request`, and writes the certificate to',
    '--out.',
  ].join('\n'),
  positionals: {
    request: text('REQUEST', 'Certificate request of a site (default: issue the site’s own certificate)'),
  },
  options: {
    hosts: nameList('A,B', 'Host names and addresses to include, for other programs; peers ignore them'),
    days: withDefault(90, integer('DAYS', 'Days of validity', 1, 825)),
    role: text('ROLE', 'Issue the certificate of this role (default: that of the site)'),
    out: text('FILE', 'With REQUEST: file to create for the certificate'),
    yes: flag('Skip the confirmation'),
    ...passphraseOption,
    ...dirOption,
    ...siteOption,
    ...jsonOption,
  },
  example: 'platform keys cert issue --hosts alpha.example,192.0.2.7',
  async run({ hosts, days, role, out, yes, ...params }, terminal) {
    const location = resolveKeyLocation(params, terminal)
    const keyStore = 'dir' in location ? { keys: location.dir } : location.site
    const { issueRequestedCertificate, issueSiteCertificate, requireCertificateRequest } = await offline.certificate()
    if (params.request === undefined) {
      if ('dir' in location || out !== undefined) {
        throw new CommandFailure(2, '--dir and --out need a REQUEST; the site’s own certificates are made in the site')
      }
      const passphrase = await resolvePassphrase(terminal, params, keyStore, 'authority')
      const terms = { days, now: Date.now(), passphrase: () => passphrase }
      const certificate =
        role === undefined
          ? await issueSiteCertificate(location.site, terminal.env, hosts, terms)
          : await (await offline.roleCertificate()).issueRoleCertificate(
              location.site,
              terminal.env,
              { role, hosts },
              terms,
            )
      printResult(terminal, params.json, certificate, () => formatFields(terminal, certificate))
      return 0
    }
    if (out === undefined || hosts.length > 0 || role !== undefined)
      throw new CommandFailure(2, 'a REQUEST needs --out, and already contains its names: leave out --hosts and --role')
    const certificateRequest = await requireCertificateRequest(readInputFile(params.request))
    const { site, dns, ip } = certificateRequest.names
    terminal.note(formatFields(terminal, { site, hosts: [...dns, ...ip].join(', ') || undefined, days }))
    await requireConsent(terminal, yes, `Sign a certificate of the site ${site}?`)
    const passphrase = await resolvePassphrase(terminal, params, keyStore, 'authority')
    const terms = { days, now: Date.now(), passphrase: () => passphrase }
    writeOutputFile(out, await issueRequestedCertificate(keyStore, terminal.env, certificateRequest, terms))
    printResult(terminal, params.json, { file: out, site }, () => `${out} holds the certificate of ${site}`)
    return 0
  },
})
