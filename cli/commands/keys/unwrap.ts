// Decrypts private keys that are encrypted with a passphrase.
import { offline } from '../../../daemon/offline/offline.ts'
import { dirOption, requireKeyLocation } from '../../options/key-location.ts'
import { passphraseOption, resolvePassphrase } from '../../options/passphrase.ts'
import { jsonOption, siteOption } from '../../options/site-options.ts'
import { command } from '../../program/command.ts'
import { line_break, printResult } from '../../terminal/output.ts'

export const definition = command({
  words: 'keys unwrap',
  summary: 'Remove the passphrase from the private keys',
  notes: 'To change a passphrase: unwrap, then wrap with the new one.',
  options: { ...passphraseOption, ...dirOption, ...siteOption, ...jsonOption },
  example: 'platform keys unwrap --dir /media/root-keys',
  async run(params, terminal) {
    const location = requireKeyLocation(params, terminal)
    const { unwrapSiteKeys } = await offline.keys()
    const passphrase = await resolvePassphrase(terminal, params, location)
    const kids = passphrase === undefined ? [] : await unwrapSiteKeys(location, terminal.env, passphrase)
    printResult(
      terminal,
      params.json,
      { unwrapped: kids },
      () => kids.join(line_break) || 'no key is encrypted with a passphrase',
    )
    return 0
  },
})
