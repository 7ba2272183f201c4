// Takes a peer's newer key set from a file that was carried here.
import { offline } from '../../../daemon/boot/offline.ts'
import { command } from '../../command.ts'
import { readInputFile } from '../../input-file.ts'
import { show } from '../../output.ts'
import { needed, text } from '../../params.ts'
import { peerText } from '../../peer-text.ts'
import { jsonOption, requireSite, siteOption } from '../../site.ts'

export const definition = command({
  words: 'peers update',
  summary: 'take a peer’s newer key set from a file',
  notes:
    'For a peer that no message reaches. Its pinned root keys must have signed the set, so nobody need compare fingerprints.',
  takes: { name: needed(text('NAME', 'the peer’s site name')) },
  options: {
    keys: needed(text('FILE', 'made by `platform keys set show --out` there')),
    ...siteOption,
    ...jsonOption,
  },
  example: 'platform peers update bravo --keys bravo-keyset.json',
  async run(given, terminal) {
    const folder = requireSite(given, terminal)
    const { update } = await offline.peerKeys()
    const { peer, taken } = await update(folder, terminal.env, given.name, readInputFile(given.keys), Date.now())
    show(terminal, given.json, { ...peer, taken }, () => peerText(terminal, peer))
    if (taken === 0) terminal.note('nothing is new in the file')
    return 0
  },
})
