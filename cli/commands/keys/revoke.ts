// Ends a key for good: nothing verifies with it from now on, and its private half is gone.
import { offline } from '../../../daemon/boot/offline.ts'
import { command } from '../../command.ts'
import { requireConsent } from '../../consent.ts'
import { show } from '../../output.ts'
import { flag, needed, text } from '../../params.ts'
import { jsonOption, requireSite, siteOption } from '../../site.ts'

export const definition = command({
  words: 'keys revoke',
  summary: 'end a key for good; cannot be undone',
  notes: 'For a key that others may have. One that is only old is rotated instead: what it signed stays valid.',
  takes: { kid: needed(text('KEY', 'the key to revoke')) },
  options: { yes: flag('do not ask'), ...siteOption, ...jsonOption },
  example: 'platform keys revoke message-Jx3… --yes',
  async run({ kid, yes, ...given }, terminal) {
    const folder = requireSite(given, terminal)
    const { find, revoke } = await offline.keys()
    find(folder, kid)
    await requireConsent(
      terminal,
      yes,
      `Revoke ${kid}? All that it signed becomes void, and its private key is deleted.`,
    )
    const key = await revoke(folder, terminal.env, kid)
    show(terminal, given.json, key, () => `revoked ${kid}`)
    if (!given.json) terminal.note('tell every peer: they must revoke it too')
    return 0
  },
})
