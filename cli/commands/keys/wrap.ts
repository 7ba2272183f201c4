// Puts private keys under a passphrase.
import { offline } from '../../../daemon/boot/offline.ts'
import { command } from '../../command.ts'
import { dirOption, foundKeys } from '../../key-place.ts'
import { keyUses } from '../../key-text.ts'
import { show } from '../../output.ts'
import { choice } from '../../params.ts'
import { newPassphrase, passphraseOption } from '../../passphrase.ts'
import { jsonOption, siteOption } from '../../site.ts'

export const definition = command({
  words: 'keys wrap',
  summary: 'put the private keys under a passphrase',
  notes: [
    'A site that serves then needs identity.keys_passphrase_file: a file of its user alone (0600), or a systemd credential.',
    'Nobody can help you when the passphrase is lost. Copies of the files from before still hold the keys in the open.',
  ].join('\n'),
  options: {
    use: choice('USE', 'only keys of this use', [...keyUses, 'authority']),
    ...passphraseOption,
    ...dirOption,
    ...siteOption,
    ...jsonOption,
  },
  example: 'platform keys wrap --dir /media/root-keys',
  async run(given, terminal) {
    const place = foundKeys(given, terminal)
    const { wrap } = await offline.keys()
    const kids = await wrap(place, terminal.env, await newPassphrase(terminal, given), given.use)
    show(terminal, given.json, { wrapped: kids }, () => kids.join('\n') || 'every key lies under a passphrase already')
    return 0
  },
})
