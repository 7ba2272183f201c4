// Pins another site: its tenant, ceiling and channels, and its keys once a person has compared their fingerprints.
import { offline } from '../../../daemon/offline/offline.ts'
import { confirmKeys } from '../../confirmation/confirm-keys.ts'
import { max_key_set_bytes, readInputFile } from '../../file/input-file.ts'
import { formatPeer, noteUnaccreditedPeers } from '../../format/peer.ts'
import { jsonOption, requireOwnSite, siteOption } from '../../options/site-options.ts'
import { CommandFailure, command } from '../../program/command.ts'
import { duration, integer, nameList, required, text } from '../../program/params.ts'
import { printResult } from '../../terminal/output.ts'

export const definition = command({
  words: 'peers add',
  summary: 'Pin another site’s keys and open channels to it',
  notes: [
    'Prints the fingerprints in the file. Compare them with those that the other site sent you by another route,',
    'and confirm. Without a terminal, name them with --fingerprint: only keys named there are pinned, and a',
    'fingerprint that is not in the file is refused. For a key set, name every root key: they vouch for its other',
    'keys.',
  ].join('\n'),
  positionals: { name: required(text('NAME', 'Site name of the peer')) },
  options: {
    keys: required(
      text(
        'FILE',
        'File from `platform keys set show --out` at the peer, or from `platform keys export` if it has no key set',
      ),
    ),
    tenant: required(text('TENANT', 'Tenant of the peer')),
    ceiling: required(text('LEVEL', 'Highest level that may cross, in both directions')),
    categories: nameList('A,B', 'Categories that may cross'),
    releasableNames: nameList('A,B', 'Nationalities that the peer counts as, besides its tenant'),
    labelMap: text('FILE', 'JSON file that maps the peer’s labels to local ones (default: accept only local labels)'),
    fingerprint: nameList('FP,...', 'Fingerprints that were compared already; one may begin with "-"'),
    threshold: integer('COUNT', 'Distinct keys that must sign a message; not with a key set (default: 1)', 1, 16),
    rootThreshold: integer('COUNT', 'Distinct root keys that must sign its first key set (default: 1)', 1, 16),
    freshDays: integer('DAYS', 'Days for which a message stays fresh (default: 7; couriers: 90)', 1, 365),
    inventoryInterval: duration('TIME', 'Interval between inventories; default: 5 minutes'),
    keepDays: integer('DAYS', 'Days for which files of sent and applied messages are kept (default: 30)', 1, 3_650),
    ...siteOption,
    ...jsonOption,
  },
  example: 'platform peers add bravo --keys bravo-keys.json --tenant bravo --ceiling RESTRICTED',
  async run(params, terminal) {
    const [keysText, label_map] = [
      readInputFile(params.keys, max_key_set_bytes),
      params.labelMap === undefined ? undefined : readInputFile(params.labelMap),
    ]
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
    })
    const peer = await peers.addPeer(folder, terminal.env, {
      name: params.name,
      tenant_id: params.tenant,
      keys,
      ceiling: { level: params.ceiling, categories: params.categories },
      releasable_names: params.releasableNames,
      label_map,
      key_set: set,
      threshold: params.threshold,
      root_threshold: params.rootThreshold,
      not_after_days: params.freshDays,
      inventory_interval_s: params.inventoryInterval,
      keep_days: params.keepDays,
      now: Date.now(),
    })
    printResult(terminal, params.json, peer, () => formatPeer(terminal, peer))
    noteUnaccreditedPeers(terminal, peers.listUnaccreditedPeers(folder, terminal.env, [peer.name], Date.now()))
    return 0
  },
})
