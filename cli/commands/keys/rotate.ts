// Puts a new key in the place of one, which then only verifies.

import { keyAlgorithm, type PublicKey } from '../../../daemon/kernel/cryptography/signatures.ts'
import { offline } from '../../../daemon/offline/offline.ts'
import { passphraseOption, resolvePassphrase } from '../../options/passphrase.ts'
import { jsonOption, requireSite, siteOption } from '../../options/site-options.ts'
import { command } from '../../program/command.ts'
import { choice, duration, instant, required, text } from '../../program/params.ts'
import { printResult } from '../../terminal/output.ts'

export const definition = command({
  words: 'keys rotate',
  summary: 'replace a key; what the old one signed still verifies',
  notes: [
    'A message key goes on beside the new one for the overlap, and a new key set tells the peers. Where the root keys lie',
    'elsewhere the set is yours to draft, sign and publish: `platform keys set draft --retire KEY`.',
  ].join('\n'),
  positionals: { kid: required(text('KEY', 'the key to replace')) },
  options: {
    algorithm: choice('ALGORITHM', 'of the new key; else that of the old', keyAlgorithm.options),
    notAfter: instant('TIME', 'after which the new key signs no more'),
    overlap: duration('TIME', 'that an old message key goes on; else twice the longest time under way'),
    ...passphraseOption,
    ...siteOption,
    ...jsonOption,
  },
  example: 'platform keys rotate message-Jx3…',
  async run({ kid, algorithm, notAfter, ...given }, terminal) {
    const folder = requireSite(given, terminal)
    const { rotateSiteKey, findSiteKey } = await offline.keys()
    const passphrase = findSiteKey(folder, kid).role ? undefined : await resolvePassphrase(terminal, given, folder)
    const done = await rotateSiteKey(folder, terminal.env, kid, {
      now: Date.now(),
      overlap_s: given.overlap,
      passphrase,
      ...(algorithm ? { algorithm } : {}),
      ...(notAfter ? { not_after: notAfter } : {}),
    })
    const { created, retired, key_set } = done
    printResult(
      terminal,
      given.json,
      done,
      () => `${created.kid} replaces ${retired.kid}\nfingerprint ${created.fingerprint}`,
    )
    if (given.json) return 0
    if (key_set !== undefined) terminal.note(`key set ${key_set} is in force; ${kid} ${describeKeyEnd(retired)}`)
    else if (isPinnedUse(created)) terminal.note(`${kid} goes on: ${buildRetireRemedy(kid)}`)
    return 0
  },
})

function isPinnedUse({ use }: PublicKey): boolean {
  return use === 'message' || use === 'root'
}

function describeKeyEnd({ status, not_after }: PublicKey): string {
  return status === 'active' && not_after !== undefined ? `signs until ${not_after}` : 'signs no more'
}

function buildRetireRemedy(kid: string): string {
  return `platform keys set draft --retire ${kid} --out FILE, then sign it with the root keys and publish it`
}
