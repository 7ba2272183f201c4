// Updates a peer's key set from a file.
import { offline } from '../../../daemon/offline/offline.ts'
import { max_key_set_bytes, readInputFile } from '../../file/input-file.ts'
import { formatPeer } from '../../format/peer.ts'
import { jsonOption, requireOwnSite, siteOption } from '../../options/site-options.ts'
import { command } from '../../program/command.ts'
import { required, text } from '../../program/params.ts'
import { printResult } from '../../terminal/output.ts'

export const definition = command({
  words: 'peers update',
  summary: 'Update a peer’s key set from a file',
  notes: [
    'For a peer that no message reaches. Its pinned root keys must have signed the set, so no fingerprints need',
    'to be compared.',
  ].join('\n'),
  positionals: { name: required(text('NAME', 'Site name of the peer')) },
  options: {
    keys: required(text('FILE', 'File from `platform keys set show --out` at the peer')),
    ...siteOption,
    ...jsonOption,
  },
  example: 'platform peers update bravo --keys bravo-keyset.json',
  async run(params, terminal) {
    const keys = readInputFile(params.keys, max_key_set_bytes)
    const folder = requireOwnSite(params, terminal)
    const { updatePeerKeys } = await offline.peerKeys()
    const { peer, taken } = await updatePeerKeys(folder, terminal.env, params.name, keys, Date.now())
    printResult(terminal, params.json, { ...peer, taken }, () => formatPeer(terminal, peer))
    if (taken === 0) terminal.note('the file contains nothing new')
    return 0
  },
})
