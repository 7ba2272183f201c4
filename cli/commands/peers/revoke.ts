// Revokes one key of a peer at once, regardless of the peer's key sets.
import { offline } from '../../../daemon/offline/offline.ts'
import { requireConsent } from '../../confirmation/require-consent.ts'
import { formatPeer } from '../../format/peer.ts'
import { jsonOption, requireOwnSite, siteOption } from '../../options/site-options.ts'
import { command } from '../../program/command.ts'
import { flag, required, text } from '../../program/params.ts'
import { printResult } from '../../terminal/output.ts'

export const definition = command({
  words: 'peers revoke',
  summary: 'Revoke one key of a peer; cannot be undone',
  notes: [
    'Everything signed with it is refused from then on, including messages in transit. Only a new enrolment',
    'restores the key.',
  ].join('\n'),
  positionals: {
    name: required(text('NAME', 'Site name of the peer')),
    kid: required(text('KEY', 'Id or fingerprint of the key; it may begin with "-"')),
  },
  options: { yes: flag('Skip the confirmation'), ...siteOption, ...jsonOption },
  example: 'platform peers revoke bravo message-Jx3… --yes',
  async run({ name, kid, yes, ...params }, terminal) {
    const folder = requireOwnSite(params, terminal)
    const { findPeerKey, revokePeerKey } = await offline.peerKeys()
    await findPeerKey(folder, name, kid)
    await requireConsent(terminal, yes, `Revoke the key ${kid} of ${name}?`)
    const { peer, left } = await revokePeerKey(folder, terminal.env, name, kid)
    printResult(terminal, params.json, peer, () => formatPeer(terminal, peer))
    if (left < peer.threshold) {
      terminal.note(
        `too few keys of ${name} are left to verify its messages; apply its new key set by hand: platform peers update ${name} --keys FILE`,
      )
    }
    return 0
  },
})
