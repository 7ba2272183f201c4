// Puts private keys under a passphrase.
import { offline } from '../../../daemon/offline/offline.ts'
import { keyUses } from '../../format/key.ts'
import { dirOption, requireKeyLocation } from '../../options/key-location.ts'
import { passphraseOption, readNewPassphrase } from '../../options/passphrase.ts'
import { jsonOption, siteOption } from '../../options/site-options.ts'
import { command } from '../../program/command.ts'
import { choice } from '../../program/params.ts'
import { printResult } from '../../terminal/output.ts'

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
    const place = requireKeyLocation(given, terminal)
    const { wrapSiteKeys } = await offline.keys()
    const kids = await wrapSiteKeys(place, terminal.env, await readNewPassphrase(terminal, given), given.use)
    printResult(
      terminal,
      given.json,
      { wrapped: kids },
      () => kids.join('\n') || 'every key lies under a passphrase already',
    )
    return 0
  },
})
