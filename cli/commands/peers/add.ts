// Pins another site: its keys, once a person has compared their fingerprints, its tenant, its ceiling, its channels.
import { readFileSync } from 'node:fs'
import { offline } from '../../../daemon/boot/offline.ts'
import type { PublicKey } from '../../../daemon/kernel/keys.ts'
import { command, Failure } from '../../command.ts'
import { show } from '../../output.ts'
import { duration, names, needed, text, whole } from '../../params.ts'
import { peerText } from '../../peer-text.ts'
import { jsonOption, requireSite, siteOption } from '../../site.ts'
import type { Terminal } from '../../terminal.ts'

export const definition = command({
  words: 'peers add',
  summary: 'pin another site’s keys and open channels to it',
  notes: [
    'Prints the fingerprints in the file. Compare them with what the other site told you by another way, and confirm;',
    'without a terminal, name them with --fingerprint: only keys named there are pinned, and a name that is not in the',
    'file is refused.',
  ].join('\n'),
  takes: { name: needed(text('NAME', 'the peer’s site name')) },
  options: {
    keys: needed(text('FILE', 'its public keys, made by `platform keys export` there')),
    tenant: needed(text('TENANT', 'the tenant that it speaks for')),
    ceiling: needed(text('LEVEL', 'highest level that may cross, both ways')),
    categories: names('A,B', 'categories that may cross'),
    releasableNames: names('A,B', 'nationalities that it counts as, besides its tenant'),
    fingerprint: names('FP,...', 'fingerprints that were compared already'),
    threshold: whole('COUNT', 'distinct keys that must sign a message; else 1', 1, 16),
    freshDays: whole('DAYS', 'how long a message stays fresh; else 7, couriers 90', 1, 365),
    inventoryInterval: duration('TIME', 'between inventories; else 5 minutes'),
    ...siteOption,
    ...jsonOption,
  },
  example: 'platform peers add bravo --keys bravo-keys.json --tenant bravo --ceiling RESTRICTED',
  async run(given, terminal) {
    const folder = requireSite(given, terminal)
    const peers = await offline.peers()
    const found = peers.pinnableKeys(readKeys(given.keys))
    const keys = await confirmed(terminal, given.name, found, given.fingerprint)
    const peer = await peers.add(folder, terminal.env, {
      name: given.name,
      tenant_id: given.tenant,
      keys,
      ceiling: { level: given.ceiling, categories: given.categories },
      releasable_names: given.releasableNames,
      threshold: given.threshold,
      not_after_days: given.freshDays,
      inventory_interval_s: given.inventoryInterval,
      now: Date.now(),
    })
    show(terminal, given.json, peer, () => peerText(terminal, peer))
    return 0
  },
})

function readKeys(file: string): string {
  try {
    return readFileSync(file, 'utf8')
  } catch {
    throw new Failure(1, `${file} cannot be read`, '`platform keys export --out FILE` at the other site makes it')
  }
}

/** The keys that a person vouches for: no trust on first use. */
async function confirmed(
  terminal: Terminal,
  name: string,
  found: readonly PublicKey[],
  named: readonly string[],
): Promise<readonly PublicKey[]> {
  terminal.note(`${name} would be pinned by:`)
  for (const { kid, use, algorithm, fingerprint } of found) {
    terminal.note(`  ${use.padEnd(8)} ${algorithm.padEnd(9)} ${fingerprint}  ${kid}`)
  }
  if (named.length === 0) return await askedAbout(terminal, found)
  const strange = named.filter((fingerprint) => !found.some((key) => key.fingerprint === fingerprint))
  if (strange.length > 0) {
    throw new Failure(3, `the file does not hold the key ${strange.join(', ')}; nothing was pinned`, remedy)
  }
  const keys = found.filter((key) => named.includes(key.fingerprint))
  if (!keys.some((key) => key.use === 'message')) {
    throw new Failure(3, 'none of the fingerprints is that of a message key; nothing was pinned', remedy)
  }
  for (const key of found) if (!keys.includes(key)) terminal.note(`not pinned, not confirmed: ${key.kid}`)
  return keys
}

const remedy = 'compare the fingerprints again with the people of the other site'

async function askedAbout(terminal: Terminal, found: readonly PublicKey[]): Promise<readonly PublicKey[]> {
  const answer = await terminal.ask('Are these the fingerprints that the other site told you? [y/N] ')
  if (answer === undefined) {
    throw new Failure(
      3,
      'the fingerprints need a confirmation',
      'name them with --fingerprint to confirm without a terminal',
    )
  }
  if (!/^y(es)?$/i.test(answer)) throw new Failure(3, 'not confirmed; nothing was pinned', remedy)
  return found
}
