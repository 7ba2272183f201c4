// Shows one pinned peer with its keys.
import { offline } from '../../../daemon/offline/offline.ts'
import { formatPeer } from '../../format/peer.ts'
import { jsonOption, requireOwnSite, siteOption } from '../../options/site-options.ts'
import { command } from '../../program/command.ts'
import { required, text } from '../../program/params.ts'
import { printResult } from '../../terminal/output.ts'

export const definition = command({
  words: 'peers show',
  summary: 'Show one peer with its keys',
  positionals: { name: required(text('NAME', 'Site name of the peer')) },
  options: { ...siteOption, ...jsonOption },
  example: 'platform peers show bravo',
  async run(params, terminal) {
    const folder = requireOwnSite(params, terminal)
    const peers = await offline.peers()
    const peer = await peers.getPeer(folder, params.name)
    printResult(terminal, params.json, peer, () => formatPeer(terminal, peer))
    return 0
  },
})
