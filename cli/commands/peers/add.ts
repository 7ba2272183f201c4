// Pins another site: its tenant, ceiling and channels, and its keys once a person has compared their fingerprints.
import { offline } from '../../../daemon/offline/offline.ts'
import { confirmKeys } from '../../confirmation/confirm-keys.ts'
import { max_key_set_bytes, readInputFile } from '../../file/input-file.ts'
import { formatPeer, noteNamesakes, noteUnaccreditedPeers } from '../../format/peer.ts'
import { peerSettingOptions, readPeerSettings } from '../../options/peer-options.ts'
import { jsonOption, requireOwnSite, siteOption } from '../../options/site-options.ts'
import { CommandFailure, command } from '../../program/command.ts'
import { nameList, required, text } from '../../program/params.ts'
import { printResult } from '../../terminal/output.ts'

export const definition = command({
  words: 'peers add',
  summary: 'Pin another site’s keys and open channels to it',
  notes: [
    'Asks for the fingerprint of all keys, which the other site reads aloud from `platform keys speak`; without a',
    'terminal: --spoken. It covers name, tenant and keys. --fingerprint pins single keys instead: only those named',
    'there are pinned, and a fingerprint that is not in the file is refused. For a key set, name every root key:',
    'they vouch for its other keys.',
  ].join('\n'),
  positionals: { name: required(text('NAME', 'Site name of the peer')) },
  options: {
    keys: required(
      text(
        'FILE',
        'File from `platform keys set show --out` at the peer, or from `platform keys export` if it has no key set',
      ),
    ),
    ...peerSettingOptions,
    tenant: required(peerSettingOptions.tenant),
    ceiling: required(peerSettingOptions.ceiling),
    spoken: text('DIGITS', 'Fingerprint that the other site read aloud, from `platform keys speak`'),
    fingerprint: nameList('FP,...', 'Fingerprints of single keys that were compared already; one may begin with "-"'),
    ...siteOption,
    ...jsonOption,
  },
  example: 'platform peers add bravo --keys bravo-keys.json --tenant bravo --ceiling RESTRICTED',
  async run(params, terminal) {
    const [keysText, settings] = [readInputFile(params.keys, max_key_set_bytes), readPeerSettings(params)]
    const folder = requireOwnSite(params, terminal)
    const peers = await offline.peers()
    const { keys: foundKeys, set } = await peers.readPinnableKeys(keysText)
    if (set && (params.threshold ?? params.rootThreshold) !== undefined) {
      throw new CommandFailure(
        2,
        'the file is a key set, which sets the thresholds: leave out --threshold and --root-threshold',
      )
    }
    const keys = await confirmKeys(terminal, {
      heading: `${params.name} would be pinned with these keys`,
      fingerprintSource: 'the other site',
      use: set ? 'root' : 'message',
      isWhole: set !== undefined,
      foundKeys,
      comparedFingerprints: params.fingerprint,
      spoken: {
        groups: peers.speakPinnableKeys(params.name, params.tenant, { keys: foundKeys, set }),
        typed: params.spoken,
        command: 'platform keys speak',
      },
    })
    const peer = await peers.addPeer(folder, terminal.env, {
      ...settings,
      name: params.name,
      keys,
      key_set: set,
      now: Date.now(),
    })
    printResult(terminal, params.json, peer, () => formatPeer(terminal, peer))
    noteUnaccreditedPeers(terminal, peers.listUnaccreditedPeers(folder, terminal.env, [peer.name], Date.now()))
    const { findNamesakes } = await offline.namesakes()
    await noteNamesakes(terminal, () => findNamesakes(folder, terminal.env, [peer]))
    return 0
  },
})
