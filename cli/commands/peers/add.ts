// Pins another site: its keys, once a person has compared their fingerprints, its tenant, its ceiling, its channels.
import { readFileSync } from 'node:fs'
import { offline } from '../../../daemon/offline/offline.ts'
import { confirmKeys } from '../../confirmation/confirm-keys.ts'
import { readInputFile } from '../../file/input-file.ts'
import { formatPeer, noteUnaccreditedPeers } from '../../format/peer.ts'
import { jsonOption, requireSite, siteOption } from '../../options/site-options.ts'
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
    fingerprint: nameList('FP,...', 'Fingerprints that were compared already'),
    threshold: integer('COUNT', 'Distinct keys that must sign a message; not with a key set (default: 1)', 1, 16),
    rootThreshold: integer('COUNT', 'Distinct root keys that must sign its first key set (default: 1)', 1, 16),
    freshDays: integer('DAYS', 'Days for which a message stays fresh (default: 7; couriers: 90)', 1, 365),
    inventoryInterval: duration('TIME', 'Interval between inventories; default: 5 minutes'),
    keepDays: integer('DAYS', 'Days for which files of sent and applied messages are kept (default: 30)', 1, 3_650),
    ...siteOption,
    ...jsonOption,
  },
  example: 'platform peers add bravo --keys bravo-keys.json --tenant bravo --ceiling RESTRICTED',
  async run(given, terminal) {
    const folder = requireSite(given, terminal)
    const peers = await offline.peers()
    const { keys: found, set } = await peers.readPinnableKeys(readKeyFile(given.keys))
    if (set && (given.threshold ?? given.rootThreshold) !== undefined) {
      throw new CommandFailure(
        2,
        'the file is a key set, which sets the thresholds: leave out --threshold and --root-threshold',
      )
    }
    const keys = await confirmKeys(terminal, {
      heading: `${given.name} would be pinned with these keys`,
      fingerprintSource: 'the other site',
      use: set ? 'root' : 'message',
      isWhole: set !== undefined,
      found,
      comparedFingerprints: given.fingerprint,
    })
    const peer = await peers.addPeer(folder, terminal.env, {
      name: given.name,
      tenant_id: given.tenant,
      keys,
      ceiling: { level: given.ceiling, categories: given.categories },
      releasable_names: given.releasableNames,
      label_map: given.labelMap === undefined ? undefined : readInputFile(given.labelMap),
      key_set: set,
      threshold: given.threshold,
      root_threshold: given.rootThreshold,
      not_after_days: given.freshDays,
      inventory_interval_s: given.inventoryInterval,
      keep_days: given.keepDays,
      now: Date.now(),
    })
    printResult(terminal, given.json, peer, () => formatPeer(terminal, peer))
    noteUnaccreditedPeers(terminal, peers.listUnaccreditedPeers(folder, terminal.env, [peer.name], Date.now()))
    return 0
  },
})

function readKeyFile(file: string): string {
  try {
    return offline.asInvoker(() => readFileSync(file, 'utf8'))
  } catch {
    throw new CommandFailure(
      1,
      `${file} cannot be read`,
      '`platform keys set show --out FILE` or `platform keys export --out FILE` at the other site writes it',
    )
  }
}
