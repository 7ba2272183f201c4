// Pins another site: its keys, once a person has compared their fingerprints, its tenant, its ceiling, its channels.
import { readFileSync } from 'node:fs'
import { offline } from '../../../daemon/boot/offline.ts'
import { command, Failure } from '../../command.ts'
import { confirmedKeys } from '../../confirmed-keys.ts'
import { readInputFile } from '../../input-file.ts'
import { show } from '../../output.ts'
import { duration, names, needed, text, whole } from '../../params.ts'
import { noteUnaccredited, peerText } from '../../peer-text.ts'
import { jsonOption, requireSite, siteOption } from '../../site.ts'

export const definition = command({
  words: 'peers add',
  summary: 'pin another site’s keys and open channels to it',
  notes: [
    'Prints the fingerprints in the file. Compare them with what the other site told you by another way, and confirm;',
    'without a terminal, name them with --fingerprint: only keys named there are pinned, and a name that is not in the',
    'file is refused. Of a key set every root key must be named: they vouch for its other keys.',
  ].join('\n'),
  takes: { name: needed(text('NAME', 'the peer’s site name')) },
  options: {
    keys: needed(
      text(
        'FILE',
        'made there by `platform keys set show --out`, or by `platform keys export` while it has no key set',
      ),
    ),
    tenant: needed(text('TENANT', 'the tenant that it speaks for')),
    ceiling: needed(text('LEVEL', 'highest level that may cross, both ways')),
    categories: names('A,B', 'categories that may cross'),
    releasableNames: names('A,B', 'nationalities that it counts as, besides its tenant'),
    labelMap: text('FILE', 'what the terms of its labelling policy are called here (JSON); else ours alone is read'),
    fingerprint: names('FP,...', 'fingerprints that were compared already'),
    threshold: whole('COUNT', 'distinct keys that must sign a message; else 1; a key set says it itself', 1, 16),
    rootThreshold: whole('COUNT', 'distinct root keys that must sign its first key set; else 1', 1, 16),
    freshDays: whole('DAYS', 'how long a message stays fresh; else 7, couriers 90', 1, 365),
    inventoryInterval: duration('TIME', 'between inventories; else 5 minutes'),
    keepDays: whole('DAYS', 'that files of sent and applied messages are kept; else 30', 1, 3_650),
    ...siteOption,
    ...jsonOption,
  },
  example: 'platform peers add bravo --keys bravo-keys.json --tenant bravo --ceiling RESTRICTED',
  async run(given, terminal) {
    const folder = requireSite(given, terminal)
    const peers = await offline.peers()
    const { keys: found, set } = await peers.pinnable(readKeys(given.keys))
    if (set && (given.threshold ?? given.rootThreshold) !== undefined) {
      throw new Failure(2, 'the file is a key set, which says itself how many keys must sign')
    }
    const keys = await confirmedKeys(terminal, {
      deed: `${given.name} would be pinned by`,
      teller: 'the other site',
      use: set ? 'root' : 'message',
      isWhole: set !== undefined,
      found,
      named: given.fingerprint,
    })
    const peer = await peers.add(folder, terminal.env, {
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
    show(terminal, given.json, peer, () => peerText(terminal, peer))
    noteUnaccredited(terminal, peers.unaccredited(folder, terminal.env, [peer.name], Date.now()))
    return 0
  },
})

function readKeys(file: string): string {
  try {
    return offline.asInvoker(() => readFileSync(file, 'utf8'))
  } catch {
    throw new Failure(
      1,
      `${file} cannot be read`,
      '`platform keys set show --out FILE` or `platform keys export --out FILE` at the other site makes it',
    )
  }
}
