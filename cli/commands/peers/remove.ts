// Unpins a peer: nothing from it is accepted from now on.
import { offline } from '../../../daemon/offline/offline.ts'
import { requireConsent } from '../../confirmation/require-consent.ts'
import { jsonOption, requireOwnSite, siteOption } from '../../options/site-options.ts'
import { command } from '../../program/command.ts'
import { flag, required, text } from '../../program/params.ts'
import { printResult } from '../../terminal/output.ts'

export const definition = command({
  words: 'peers remove',
  summary: 'Unpin a peer; its channel folders stay on disk',
  notes: [
    'Messages that a network carrier has queued for it are called back first; those that were not sent by then',
    'stay in out/ready.',
  ].join('\n'),
  positionals: { name: required(text('NAME', 'Site name of the peer')) },
  options: { yes: flag('Skip the confirmation'), ...siteOption, ...jsonOption },
  example: 'platform peers remove bravo --yes',
  async run({ name, yes, ...params }, terminal) {
    const folder = requireOwnSite(params, terminal)
    const peers = await offline.peers()
    await peers.getPeer(folder, name)
    await requireConsent(terminal, yes, `Unpin ${name}? Nothing from it is accepted from then on.`)
    await peers.removePeer(folder, terminal.env, name)
    printResult(terminal, params.json, { removed: name }, () => `removed ${name}`)
    return 0
  },
})
