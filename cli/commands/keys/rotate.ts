// Replaces a key with a new one; the old key then only verifies.

import { keyAlgorithm, type PublicKey } from '../../../daemon/kernel/cryptography/signatures.ts'
import { isWrappingKeyId } from '../../../daemon/kernel/secret/data-key.ts'
import { offline, type SiteFolder } from '../../../daemon/offline/offline.ts'
import { passphraseOption, resolvePassphrase } from '../../options/passphrase.ts'
import { jsonOption, requireWholeSite, siteOption } from '../../options/site-options.ts'
import { command } from '../../program/command.ts'
import { choice, duration, instant, required, text } from '../../program/params.ts'
import { line_break, printResult } from '../../terminal/output.ts'
import type { Terminal } from '../../terminal/terminal.ts'

export const definition = command({
  words: 'keys rotate',
  summary: 'Replace a key; signatures of the old one stay valid',
  notes: [
    'An old message key stays active beside the new one for the overlap, and a new key set informs the peers. If',
    'the root keys are elsewhere, draft, sign and publish the set yourself: `platform keys set draft --retire',
    'KEY`. A key of use secret protects stored secrets; the old one still opens those in backups.',
  ].join('\n'),
  positionals: { kid: required(text('KEY', 'Key to replace')) },
  options: {
    algorithm: choice('ALGORITHM', 'Algorithm of the new key; default: that of the old key', keyAlgorithm.options),
    notAfter: instant('TIME', 'Time after which the new key no longer signs (default: none)'),
    overlap: duration('TIME', 'Time that an old message key stays active; default: twice the longest transit time'),
    ...passphraseOption,
    ...siteOption,
    ...jsonOption,
  },
  example: 'platform keys rotate message-Jx3…',
  async run({ kid, algorithm, notAfter, ...params }, terminal) {
    const folder = await requireWholeSite(params, terminal, [params.passphraseFile])
    if (isWrappingKeyId(kid)) return await rotateSecretKey(kid, params, folder, terminal)
    const { rotateSiteKey, findSiteKey } = await offline.keys()
    const passphrase = findSiteKey(folder, kid).role ? undefined : await resolvePassphrase(terminal, params, folder)
    const rotation = await rotateSiteKey(folder, terminal.env, kid, {
      now: Date.now(),
      overlap_s: params.overlap,
      passphrase,
      ...(algorithm ? { algorithm } : {}),
      ...(notAfter ? { not_after: notAfter } : {}),
    })
    const { created, retired, key_set } = rotation
    printResult(terminal, params.json, rotation, () =>
      [`${created.kid} replaces ${retired.kid}`, `fingerprint ${created.fingerprint}`].join(line_break),
    )
    if (params.json) return 0
    if (key_set !== undefined) terminal.note(`key set ${key_set} is in force; ${kid} ${describeKeyEnd(retired)}`)
    else if (isPinnedUse(created)) terminal.note(`${kid} stays active: ${buildRetireRemedy(kid)}`)
    return 0
  },
})

/** Replaces the key that wraps the data keys of roles. */
async function rotateSecretKey(
  kid: string,
  params: { readonly passphraseFile: string | undefined; readonly json: boolean },
  folder: SiteFolder,
  terminal: Terminal,
): Promise<0> {
  const { rotateWrappingKey } = await offline.wrappingKeys()
  const passphrase = await resolvePassphrase(terminal, params, folder)
  const rotation = await rotateWrappingKey(folder, terminal.env, kid, { now: Date.now(), passphrase })
  printResult(terminal, params.json, rotation, () => `${rotation.created.kid} replaces ${kid}`)
  if (!params.json) terminal.note(`roles encrypt their secrets again within the hour; ${kid} still opens backups`)
  return 0
}

function isPinnedUse({ use }: PublicKey): boolean {
  return use === 'message' || use === 'root'
}

function describeKeyEnd({ status, not_after }: PublicKey): string {
  return status === 'active' && not_after !== undefined ? `signs until ${not_after}` : 'no longer signs'
}

function buildRetireRemedy(kid: string): string {
  return `platform keys set draft --retire ${kid} --out FILE, then sign it with the root keys and publish it`
}
