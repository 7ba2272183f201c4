// Unpins a peer: nothing of it is accepted from now on.
import { offline } from '../../../daemon/boot/offline.ts'
import { command } from '../../command.ts'
import { requireConsent } from '../../consent.ts'
import { show } from '../../output.ts'
import { flag, needed, text } from '../../params.ts'
import { jsonOption, requireSite, siteOption } from '../../site.ts'

export const definition = command({
  words: 'peers remove',
  summary: 'unpin a peer; its channel folders stay, for the record',
  notes:
    'Messages that a network has in hand for it are called back first: what has not left by then stays in out/ready.',
  takes: { name: needed(text('NAME', 'the peer’s site name')) },
  options: { yes: flag('do not ask'), ...siteOption, ...jsonOption },
  example: 'platform peers remove bravo --yes',
  async run({ name, yes, ...given }, terminal) {
    const folder = requireSite(given, terminal)
    const peers = await offline.peers()
    await peers.get(folder, name)
    await requireConsent(terminal, yes, `Unpin ${name}? Nothing of it is accepted from then on.`)
    await peers.remove(folder, terminal.env, name)
    show(terminal, given.json, { removed: name }, () => `removed ${name}`)
    return 0
  },
})
