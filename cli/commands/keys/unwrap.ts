// Takes private keys out from under their passphrase.
import { offline } from '../../../daemon/boot/offline.ts'
import { command } from '../../command.ts'
import { dirOption, foundKeys } from '../../key-place.ts'
import { show } from '../../output.ts'
import { passphraseOf, passphraseOption } from '../../passphrase.ts'
import { jsonOption, siteOption } from '../../site.ts'

export const definition = command({
  words: 'keys unwrap',
  summary: 'take the private keys out from under their passphrase',
  notes: 'To change a passphrase: unwrap, then wrap with the new one.',
  options: { ...passphraseOption, ...dirOption, ...siteOption, ...jsonOption },
  example: 'platform keys unwrap --dir /media/root-keys',
  async run(given, terminal) {
    const place = foundKeys(given, terminal)
    const { unwrap } = await offline.keys()
    const passphrase = await passphraseOf(terminal, given, place)
    const kids = passphrase === undefined ? [] : await unwrap(place, terminal.env, passphrase)
    show(terminal, given.json, { unwrapped: kids }, () => kids.join('\n') || 'no key lies under a passphrase')
    return 0
  },
})
