// Makes a key, for the site or on a person's own medium.
import { offline } from '../../../daemon/boot/offline.ts'
import { keyAlgorithm } from '../../../daemon/kernel/keys.ts'
import { command, Failure } from '../../command.ts'
import { dirOption, keyPlace } from '../../key-place.ts'
import { keyUses } from '../../key-text.ts'
import { fields, show } from '../../output.ts'
import { choice, instant, needed, text } from '../../params.ts'
import { passphraseOf, passphraseOption } from '../../passphrase.ts'
import { jsonOption, siteOption } from '../../site.ts'

export const definition = command({
  words: 'keys generate',
  summary: 'make a key; the private half stays in the key folder',
  notes: [
    'A personal key is made with --dir on its person’s own medium: it must never lie in a site’s folder. With a passphrase',
    'file, or where keys of its use lie under a passphrase already, the new key is put under it.',
  ].join('\n'),
  options: {
    use: needed(choice('USE', 'what it signs', keyUses)),
    algorithm: choice('ALGORITHM', 'else Ed25519', keyAlgorithm.options),
    notAfter: instant('TIME', 'after which it signs no more'),
    role: text('ROLE', 'with --use token: by which this role alone tells the site’s others who it is'),
    ...passphraseOption,
    ...dirOption,
    ...siteOption,
    ...jsonOption,
  },
  example: 'platform keys generate --use message --algorithm ML-DSA-87',
  async run({ use, algorithm, notAfter, role, ...given }, terminal) {
    if (role !== undefined && use !== 'token') throw new Failure(2, 'the key of a role is one of use token')
    const place = keyPlace(given, terminal, 'to be made')
    const { generate, generateIn } = await offline.keys()
    const found = 'dir' in place ? { keys: place.dir } : place.site
    // A key of a role is read by its own user, who knows no passphrase.
    const passphrase = role === undefined ? await passphraseOf(terminal, given, found, use) : undefined
    const terms = {
      now: Date.now(),
      ...(algorithm ? { algorithm } : {}),
      ...(notAfter ? { not_after: notAfter } : {}),
      passphrase,
    }
    const key =
      'dir' in place
        ? await generateIn(place.dir, use, terms)
        : await generate(place.site, terminal.env, use, terms, role)
    const { jwk: _material, ...shown } = key
    show(terminal, given.json, key, () => fields(terminal, shown))
    return 0
  },
})
