// Makes a key, for the site or on a person's own medium.

import { keyAlgorithm } from '../../../daemon/kernel/cryptography/signatures.ts'
import { offline } from '../../../daemon/offline/offline.ts'
import { keyUses } from '../../format/key.ts'
import { dirOption, resolveKeyLocation } from '../../options/key-location.ts'
import { passphraseOption, resolvePassphrase } from '../../options/passphrase.ts'
import { jsonOption, siteOption } from '../../options/site-options.ts'
import { CommandFailure, command } from '../../program/command.ts'
import { choice, instant, required, text } from '../../program/params.ts'
import { formatFields, printResult } from '../../terminal/output.ts'

export const definition = command({
  words: 'keys generate',
  summary: 'Generate a key; its private half stays in the key folder',
  notes: [
    'Make a personal key with --dir on the medium of its owner: it must never be in a site’s folder. The new key',
    'is encrypted if you pass a passphrase file, or if keys of the same use are encrypted already.',
  ].join('\n'),
  options: {
    use: required(choice('USE', 'Use of the key', keyUses)),
    algorithm: choice('ALGORITHM', 'Key algorithm; default: Ed25519', keyAlgorithm.options),
    notAfter: instant('TIME', 'Time after which the key no longer signs (default: none)'),
    role: text('ROLE', 'With --use token: role that identifies itself to other roles with this key'),
    ...passphraseOption,
    ...dirOption,
    ...siteOption,
    ...jsonOption,
  },
  example: 'platform keys generate --use message --algorithm ML-DSA-87',
  async run({ use, algorithm, notAfter, role, ...params }, terminal) {
    if (role !== undefined && use !== 'token') throw new CommandFailure(2, '--role needs --use token')
    const location = resolveKeyLocation(params, terminal, 'may_create')
    const { generateSiteKey, generateKeyInFolder } = await offline.keys()
    const keyStore = 'dir' in location ? { keys: location.dir } : location.site
    // The user of a role reads its key unattended, so that key has no passphrase.
    const passphrase = role === undefined ? await resolvePassphrase(terminal, params, keyStore, use) : undefined
    const terms = {
      now: Date.now(),
      ...(algorithm ? { algorithm } : {}),
      ...(notAfter ? { not_after: notAfter } : {}),
      passphrase,
    }
    const key =
      'dir' in location
        ? await generateKeyInFolder(location.dir, use, terms)
        : await generateSiteKey(location.site, terminal.env, use, terms, role)
    const { jwk: _material, ...fields } = key
    printResult(terminal, params.json, key, () => formatFields(terminal, fields))
    return 0
  },
})
