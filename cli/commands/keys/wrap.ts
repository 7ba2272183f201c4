// Encrypts private keys with a passphrase.
import { offline } from '../../../daemon/offline/offline.ts'
import { keyUses } from '../../format/key.ts'
import { dirOption, requireKeyLocation } from '../../options/key-location.ts'
import { passphraseOption, readNewPassphrase } from '../../options/passphrase.ts'
import { jsonOption, siteOption } from '../../options/site-options.ts'
import { command } from '../../program/command.ts'
import { choice } from '../../program/params.ts'
import { line_break, printResult } from '../../terminal/output.ts'

export const definition = command({
  words: 'keys wrap',
  summary: 'Encrypt the private keys with a passphrase',
  notes: [
    'A serving site then needs identity.keys_passphrase_file: a file that only its user can read (0600), or a',
    'systemd credential. A lost passphrase cannot be recovered. Earlier copies of the files still hold the keys',
    'unencrypted.',
  ].join('\n'),
  options: {
    use: choice('USE', 'Only keys of this use', [...keyUses, 'authority', 'secret']),
    ...passphraseOption,
    ...dirOption,
    ...siteOption,
    ...jsonOption,
  },
  example: 'platform keys wrap --dir /media/root-keys',
  async run(params, terminal) {
    const location = requireKeyLocation(params, terminal)
    const { wrapSiteKeys } = await offline.keys()
    const kids = await wrapSiteKeys(location, terminal.env, await readNewPassphrase(terminal, params), params.use)
    printResult(
      terminal,
      params.json,
      { wrapped: kids },
      () => kids.join(line_break) || 'every key is already encrypted with a passphrase',
    )
    return 0
  },
})
