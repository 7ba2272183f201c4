// Revokes a key for good: nothing verifies with it from now on, and its private half is deleted.
import { offline } from '../../../daemon/offline/offline.ts'
import { requireConsent } from '../../confirmation/require-consent.ts'
import { passphraseOption, resolvePassphrase } from '../../options/passphrase.ts'
import { jsonOption, requireSite, siteOption } from '../../options/site-options.ts'
import { command } from '../../program/command.ts'
import { flag, required, text } from '../../program/params.ts'
import { printResult } from '../../terminal/output.ts'

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
  async run({ kid, yes, replace, ...given }, terminal) {
    const folder = requireSite(given, terminal)
    const { findSiteKey, revokeSiteKey } = await offline.keys()
    const { role } = findSiteKey(folder, kid)
    await requireConsent(
      terminal,
      yes,
      `Revoke ${kid}? All its signatures become invalid, and its private key is deleted.`,
    )
    const passphrase = role ? undefined : await resolvePassphrase(terminal, given, folder)
    const { revoked, created, key_set } = await revokeSiteKey(folder, terminal.env, kid, {
      now: Date.now(),
      replace,
      passphrase,
    })
    const made = created ? { created } : {}
    const answer = { ...revoked, ...made, ...(key_set === undefined ? {} : { key_set }) }
    const lines = [`revoked ${kid}`, ...(created ? [`${created.kid} replaces it`] : [])]
    printResult(terminal, given.json, answer, () => lines.join('\n'))
    if (given.json || (revoked.use !== 'message' && revoked.use !== 'root')) return 0
    const { exportCurrentKeySet } = await offline.keySets()
    // Peers who follow a set that has dropped the key know of it no more.
    if (exportCurrentKeySet(folder)?.keys.every((key) => key.kid !== kid)) return 0
    if (key_set !== undefined)
      terminal.note(`key set ${key_set} is in force; \`platform keys set show --out FILE\` for peers`)
    else
      terminal.note('no key set says so yet: platform keys set draft, then sign it with the root keys and publish it')
    terminal.note('every peer must revoke it at once: platform peers revoke')
    return 0
  },
})
