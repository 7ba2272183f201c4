// Ends the trust in one key of a peer at once, whoever says so and whatever its key sets say.
import { offline } from '../../../daemon/boot/offline.ts'
import { command } from '../../command.ts'
import { requireConsent } from '../../consent.ts'
import { show } from '../../output.ts'
import { flag, needed, text } from '../../params.ts'
import { peerText } from '../../peer-text.ts'
import { jsonOption, requireSite, siteOption } from '../../site.ts'

export const definition = command({
  words: 'peers revoke',
  summary: 'trust one key of a peer no more; cannot be undone',
  notes: 'What it signed is refused from then on, also what is under way. Only a new enrolment brings the key back.',
  takes: {
    name: needed(text('NAME', 'the peer’s site name')),
    kid: needed(text('KEY', 'the key, by its id or fingerprint')),
  },
  options: { yes: flag('do not ask'), ...siteOption, ...jsonOption },
  example: 'platform peers revoke bravo message-Jx3… --yes',
  async run({ name, kid, yes, ...given }, terminal) {
    const folder = requireSite(given, terminal)
    const { find, revoke } = await offline.peerKeys()
    await find(folder, name, kid)
    await requireConsent(terminal, yes, `Trust the key ${kid} of ${name} no more?`)
    const { peer, left } = await revoke(folder, terminal.env, name, kid)
    show(terminal, given.json, peer, () => peerText(terminal, peer))
    if (left < peer.threshold) {
      terminal.note(
        `nothing of ${name} can be verified now; it has to send its new key set by hand: platform peers update`,
      )
    }
    return 0
  },
})
