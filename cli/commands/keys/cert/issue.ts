// Signs a certificate: the site's own with a new key, or what another site has asked for.
import { offline } from '../../../../daemon/boot/offline.ts'
import { command, Failure } from '../../../command.ts'
import { requireConsent } from '../../../consent.ts'
import { readInputFile } from '../../../input-file.ts'
import { dirOption, keyPlace } from '../../../key-place.ts'
import { fields, show } from '../../../output.ts'
import { writeOutputFile } from '../../../output-file.ts'
import { flag, names, otherwise, text, whole } from '../../../params.ts'
import { passphraseOf, passphraseOption } from '../../../passphrase.ts'
import { jsonOption, siteOption } from '../../../site.ts'

export const definition = command({
  words: 'keys cert issue',
  summary: 'sign a certificate by the authority of `keys ca init`',
  notes: [
    'Without REQUEST the site’s own, with a new key: a daemon that runs takes it up within seconds. With REQUEST what a site has',
    'asked for by `platform keys cert request`, after a look at what it says; that goes to --out.',
  ].join('\n'),
  takes: { request: text('REQUEST', 'file with what a site asks for; else the site’s own certificate is made') },
  options: {
    hosts: names('A,B', 'names and addresses of hosts to say besides the site, for other programs; peers ignore them'),
    days: otherwise(90, whole('DAYS', 'that it lasts', 1, 825)),
    out: text('FILE', 'with REQUEST: write the certificate there, where no file may be yet'),
    yes: flag('do not ask'),
    ...passphraseOption,
    ...dirOption,
    ...siteOption,
    ...jsonOption,
  },
  example: 'platform keys cert issue --hosts alpha.example,192.0.2.7',
  async run({ hosts, days, out, yes, ...given }, terminal) {
    const place = keyPlace(given, terminal)
    const found = 'dir' in place ? { keys: place.dir } : place.site
    const { issueFor, issueOwn, requestIn } = await offline.certificate()
    if (given.request === undefined) {
      if ('dir' in place || out !== undefined) {
        throw new Failure(2, 'the site’s own certificate is made in the site; name a REQUEST for --dir and --out')
      }
      const passphrase = await passphraseOf(terminal, given, found, 'authority')
      const terms = { days, now: Date.now(), passphrase: () => passphrase }
      const made = await issueOwn(place.site, terminal.env, hosts, terms)
      show(terminal, given.json, made, () => fields(terminal, made))
      return 0
    }
    if (out === undefined || hosts.length > 0) throw new Failure(2, 'a REQUEST needs --out, and says its hosts itself')
    const asked = await requestIn(readInputFile(given.request))
    const { site, dns, ip } = asked.names
    terminal.note(fields(terminal, { site, hosts: [...dns, ...ip].join(', ') || undefined, days }))
    await requireConsent(terminal, yes, `Sign a certificate of the site ${site}?`)
    const passphrase = await passphraseOf(terminal, given, found, 'authority')
    const terms = { days, now: Date.now(), passphrase: () => passphrase }
    writeOutputFile(out, await issueFor(found, terminal.env, asked, terms))
    show(terminal, given.json, { file: out, site }, () => `${out} holds the certificate of ${site}`)
    return 0
  },
})
