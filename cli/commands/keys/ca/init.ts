// Makes the authority that signs certificates of sites: in the site, or on a medium that is never connected.
import { offline } from '../../../../daemon/boot/offline.ts'
import { authorityText } from '../../../certificate-text.ts'
import { command, Failure } from '../../../command.ts'
import { dirOption, keyPlace } from '../../../key-place.ts'
import { show } from '../../../output.ts'
import { flag, otherwise, text, whole } from '../../../params.ts'
import { passphraseOf, passphraseOption } from '../../../passphrase.ts'
import { jsonOption, siteOption } from '../../../site.ts'

export const definition = command({
  words: 'keys ca init',
  summary: 'make the authority that signs certificates of sites',
  notes: [
    'Its key (ES384) is one of use authority among the keys of the site, or of --dir; with a passphrase file, or where such keys',
    'lie under a passphrase already, it is put under it. Peers pin its certificate: `platform keys ca show --out FILE`.',
  ].join('\n'),
  options: {
    name: text('NAME', 'whose authority it is, for people; needed with --dir, else the site’s name'),
    days: otherwise(3_650, whole('DAYS', 'that it lasts', 1, 7_300)),
    replace: flag('in the place of the one that is there, which then signs no more'),
    ...passphraseOption,
    ...dirOption,
    ...siteOption,
    ...jsonOption,
  },
  example: 'platform keys ca init --dir /media/authority --name alpha',
  async run({ days, replace, ...given }, terminal) {
    const place = keyPlace(given, terminal, 'to be made')
    const found = 'dir' in place ? { keys: place.dir } : place.site
    const { siteSettings } = await offline.profile()
    const name = given.name ?? ('site' in place ? siteSettings(place.site, terminal.env).platform.name : undefined)
    if (name === undefined || !/^[\p{L}\p{N}][\p{L}\p{N} ._-]{0,31}$/u.test(name)) {
      throw new Failure(2, 'name whose authority it is in at most 32 letters: --name')
    }
    const { makeAuthority } = await offline.authority()
    const passphrase = await passphraseOf(terminal, given, found, 'authority')
    const made = await makeAuthority(found, terminal.env, { name, days, replace, passphrase, now: Date.now() })
    const { shown, human } = authorityText(terminal, [made.certificate])
    show(terminal, given.json, shown[0], human)
    return 0
  },
})
