// Makes a key for the site.
import { offline } from '../../../daemon/boot/offline.ts'
import { keyAlgorithm } from '../../../daemon/kernel/keys.ts'
import { command } from '../../command.ts'
import { keyUses } from '../../key-text.ts'
import { fields, show } from '../../output.ts'
import { choice, instant, needed } from '../../params.ts'
import { jsonOption, requireSite, siteOption } from '../../site.ts'

export const definition = command({
  words: 'keys generate',
  summary: 'make a key; the private half stays in the site’s key folder',
  options: {
    use: needed(choice('USE', 'what it signs', keyUses)),
    algorithm: choice('ALGORITHM', 'else Ed25519', keyAlgorithm.options),
    notAfter: instant('TIME', 'after which it signs no more'),
    ...siteOption,
    ...jsonOption,
  },
  example: 'platform keys generate --use message --algorithm ML-DSA-87',
  async run({ use, algorithm, notAfter, ...given }, terminal) {
    const folder = requireSite(given, terminal)
    const { generate } = await offline.keys()
    const key = await generate(folder, terminal.env, use, {
      now: Date.now(),
      ...(algorithm ? { algorithm } : {}),
      ...(notAfter ? { not_after: notAfter } : {}),
    })
    const { jwk: _material, ...shown } = key
    show(terminal, given.json, key, () => fields(terminal, shown))
    return 0
  },
})
