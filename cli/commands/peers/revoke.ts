// Ends the trust in one key of a peer at once, whoever says so and whatever its key sets say.
import { offline } from '../../../daemon/offline/offline.ts'
import { requireConsent } from '../../confirmation/require-consent.ts'
import { formatPeer } from '../../format/peer.ts'
import { jsonOption, requireSite, siteOption } from '../../options/site-options.ts'
import { command } from '../../program/command.ts'
import { flag, required, text } from '../../program/params.ts'
import { printResult } from '../../terminal/output.ts'

export const definition = command({
  words: 'peers revoke',
  summary: 'trust one key of a peer no more; cannot be undone',
  notes: 'What it signed is refused from then on, also what is under way. Only a new enrolment brings the key back.',
  positionals: {
    name: required(text('NAME', 'the peer’s site name')),
    kid: required(text('KEY', 'the key, by its id or fingerprint')),
  },
  options: { yes: flag('do not ask'), ...siteOption, ...jsonOption },
  example: 'platform peers revoke bravo message-Jx3… --yes',
  async run({ name, kid, yes, ...given }, terminal) {
    const folder = requireSite(given, terminal)
    const { findPeerKey, revokePeerKey } = await offline.peerKeys()
    await findPeerKey(folder, name, kid)
    await requireConsent(terminal, yes, `Trust the key ${kid} of ${name} no more?`)
    const { peer, left } = await revokePeerKey(folder, terminal.env, name, kid)
    printResult(terminal, given.json, peer, () => formatPeer(terminal, peer))
    if (left < peer.threshold) {
      terminal.note(
        `nothing of ${name} can be verified now; it has to send its new key set by hand: platform peers update`,
      )
    }
    return 0
  },
})
