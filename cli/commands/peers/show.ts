// Shows one pinned peer with its keys.
import { offline } from '../../../daemon/boot/offline.ts'
import { command } from '../../command.ts'
import { show } from '../../output.ts'
import { needed, text } from '../../params.ts'
import { peerText } from '../../peer-text.ts'
import { jsonOption, requireSite, siteOption } from '../../site.ts'

export const definition = command({
  words: 'peers show',
  summary: 'one peer with its keys',
  takes: { name: needed(text('NAME', 'the peer’s site name')) },
  options: { ...siteOption, ...jsonOption },
  example: 'platform peers show bravo',
  async run(given, terminal) {
    const folder = requireSite(given, terminal)
    const peers = await offline.peers()
    const peer = await peers.get(folder, given.name)
    show(terminal, given.json, peer, () => peerText(terminal, peer))
    return 0
  },
})
