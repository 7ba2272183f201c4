// Puts a new key in the place of one, which then only verifies.
import { offline } from '../../../daemon/boot/offline.ts'
import { keyAlgorithm } from '../../../daemon/kernel/keys.ts'
import { command } from '../../command.ts'
import { show } from '../../output.ts'
import { choice, instant, needed, text } from '../../params.ts'
import { jsonOption, requireSite, siteOption } from '../../site.ts'

export const definition = command({
  words: 'keys rotate',
  summary: 'replace a key; the old one signs no more and still verifies',
  notes: 'Peers must pin the new key before they accept what it signs: export it and have them add it.',
  takes: { kid: needed(text('KEY', 'the key to replace')) },
  options: {
    algorithm: choice('ALGORITHM', 'of the new key; else that of the old', keyAlgorithm.options),
    notAfter: instant('TIME', 'after which the new key signs no more'),
    ...siteOption,
    ...jsonOption,
  },
  example: 'platform keys rotate message-Jx3…',
  async run({ kid, algorithm, notAfter, ...given }, terminal) {
    const folder = requireSite(given, terminal)
    const { rotate } = await offline.keys()
    const done = await rotate(folder, terminal.env, kid, {
      now: Date.now(),
      ...(algorithm ? { algorithm } : {}),
      ...(notAfter ? { not_after: notAfter } : {}),
    })
    const { created, retired } = done
    show(terminal, given.json, done, () => `${created.kid} replaces ${retired.kid}\nfingerprint ${created.fingerprint}`)
    return 0
  },
})
