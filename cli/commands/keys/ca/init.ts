// Creates the authority that signs certificates of sites: in the site, or on a medium that is never connected.
import { offline } from '../../../../daemon/offline/offline.ts'
import { formatAuthorities } from '../../../format/certificate-authority.ts'
import { dirOption, resolveKeyLocation } from '../../../options/key-location.ts'
import { passphraseOption, resolvePassphrase } from '../../../options/passphrase.ts'
import { jsonOption, siteOption } from '../../../options/site-options.ts'
import { CommandFailure, command } from '../../../program/command.ts'
import { flag, integer, text, withDefault } from '../../../program/params.ts'
import { printResult } from '../../../terminal/output.ts'

export const definition = command({
  words: 'keys ca init',
  summary: 'Create the authority that signs certificates of sites',
  notes: [
    'Its key (ES384, use authority) is added to the keys of the site, or of --dir. It is encrypted if you pass a',
    'passphrase file, or if such keys are encrypted already. Peers pin its certificate: `platform keys ca show',
    '--out FILE`.',
  ].join('\n'),
  options: {
    name: text('NAME', 'Name of the authority, for people; needed with --dir (default: the site’s name)'),
    days: withDefault(3_650, integer('DAYS', 'Days of validity', 1, 7_300)),
    replace: flag('Replace the existing authority, which then no longer signs'),
    ...passphraseOption,
    ...dirOption,
    ...siteOption,
    ...jsonOption,
  },
  example: 'platform keys ca init --dir /media/authority --name alpha',
  async run({ days, replace, ...params }, terminal) {
    const location = resolveKeyLocation(params, terminal, 'may_create')
    const keyStore = 'dir' in location ? { keys: location.dir } : location.site
    const { readSiteSettings } = await offline.profile()
    const name =
      params.name ?? ('site' in location ? readSiteSettings(location.site, terminal.env).platform.name : undefined)
    if (name === undefined || !/^[\p{L}\p{N}][\p{L}\p{N} ._-]{0,31}$/u.test(name)) {
      throw new CommandFailure(2, '--name must be 1 to 32 letters, digits, spaces, dots, hyphens or underscores')
    }
    const { makeSiteAuthority } = await offline.authority()
    const passphrase = await resolvePassphrase(terminal, params, keyStore, 'authority')
    const authority = await makeSiteAuthority(keyStore, terminal.env, {
      name,
      days,
      replace,
      passphrase,
      now: Date.now(),
    })
    const { shown: rows, human } = formatAuthorities(terminal, [authority.certificate])
    printResult(terminal, params.json, rows[0], human)
    return 0
  },
})
