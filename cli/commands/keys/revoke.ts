// Revokes a key for good: nothing verifies with it from now on, and its private half is deleted.
import { offline } from '../../../daemon/offline/offline.ts'
import { requireConsent } from '../../confirmation/require-consent.ts'
import { passphraseOption, resolvePassphrase } from '../../options/passphrase.ts'
import { jsonOption, requireWholeSite, siteOption } from '../../options/site-options.ts'
import { command } from '../../program/command.ts'
import { flag, required, text } from '../../program/params.ts'
import { line_break, printResult } from '../../terminal/output.ts'

export const definition = command({
  words: 'keys revoke',
  summary: 'Revoke a key; cannot be undone',
  notes: [
    'For a key that others may have. Rotate a key that is only old: its signatures stay valid. If the root keys',
    'are in the site, a new key set informs the peers; a peer that no other key reaches takes it by hand',
    '(`platform peers update`).',
  ].join('\n'),
  positionals: { kid: required(text('KEY', 'Key to revoke')) },
  options: {
    replace: flag('Generate a new message or root key in its place'),
    yes: flag('Skip the confirmation'),
    ...passphraseOption,
    ...siteOption,
    ...jsonOption,
  },
  example: 'platform keys revoke message-Jx3… --yes',
  async run({ kid, yes, replace, ...params }, terminal) {
    const folder = await requireWholeSite(params, terminal, [params.passphraseFile])
    const { findSiteKey, revokeSiteKey } = await offline.keys()
    const { role } = findSiteKey(folder, kid)
    await requireConsent(
      terminal,
      yes,
      `Revoke ${kid}? All its signatures become invalid, and its private key is deleted.`,
    )
    const passphrase = role ? undefined : await resolvePassphrase(terminal, params, folder)
    const { revoked, created, key_set } = await revokeSiteKey(folder, terminal.env, kid, {
      now: Date.now(),
      replace,
      passphrase,
    })
    const replacement = created ? { created } : {}
    const report = { ...revoked, ...replacement, ...(key_set === undefined ? {} : { key_set }) }
    const lines = [`revoked ${kid}`, ...(created ? [`${created.kid} replaces it`] : [])]
    printResult(terminal, params.json, report, () => lines.join(line_break))
    if (params.json || (revoked.use !== 'message' && revoked.use !== 'root')) return 0
    const { exportCurrentKeySet } = await offline.keySets()
    // A key set without this key already removes it at every peer that follows the set.
    if (exportCurrentKeySet(folder)?.keys.every((key) => key.kid !== kid)) return 0
    if (key_set !== undefined)
      terminal.note(`key set ${key_set} is in force; \`platform keys set show --out FILE\` for peers`)
    else
      terminal.note(
        'no key set contains the revocation yet: run `platform keys set draft --out FILE`, sign the draft with the root keys, publish it',
      )
    const { readSiteSettings } = await offline.profile()
    const { name } = readSiteSettings(folder, terminal.env).platform
    terminal.note(`call every peer now. Each peer runs: platform peers revoke ${name} ${revoked.kid} --yes`)
    return 0
  },
})
