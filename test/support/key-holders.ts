// Two served sites that have pinned each other's keys, and a folder between them that a test carries by hand.
import * as fs from 'node:fs'
import { join } from 'node:path'
import { readKeyFiles, type StoredKey } from '../../adapters/keys/jose/key-files.ts'
import { listKeys } from '../../adapters/keys/jose/key-life.ts'
import { foldersOf } from '../../adapters/transport/filedrop/layout.ts'
import { rotate } from '../../daemon/boot/offline/site-keys.ts'
import { add, get } from '../../daemon/boot/offline/site-peers.ts'
import type { KeyAlgorithm, PublicKey } from '../../daemon/kernel/keys.ts'
import type { Peer } from '../../daemon/kernel/peer.ts'
import { type SimulatedClock, simulatedClock } from './simulated-clock.ts'
import { type SiteWorld, stoppedWorld, until } from './site-world.ts'

export type KeyHolders = {
  readonly clock: SimulatedClock
  readonly alpha: SiteWorld
  readonly bravo: SiteWorld
  /** What bravo's carrier finds; the files of one message are together, in the order of the numbers. */
  ready(): string[]
  /** Takes everything from bravo to alpha but what is to be lost on the way; how many messages came. */
  carry(isLost?: (file: string) => boolean): number
  /** Of alpha's channel from bravo. */
  quarantined(): { reason: string; code?: string; detail: string }[]
  /** Bravo as alpha has pinned it. */
  pinned(): Promise<Peer>
  /** Resolves when alpha has pinned this version. */
  pinnedAt(version: number): Promise<Peer>
  /** Bravo's active keys of this use, with their private halves. */
  held(use: PublicKey['use']): StoredKey[]
  /** As `platform keys rotate` at bravo; the version that says so. */
  rotate(kid: string, algorithm?: KeyAlgorithm): Promise<number>
  end(): Promise<void>
}

/** Both run when it resolves. */
export async function keyHolders(): Promise<KeyHolders> {
  const clock = simulatedClock()
  const alpha = await stoppedWorld({ name: 'alpha', tenant: 'tenant-a', clock })
  const bravo = await stoppedWorld({ name: 'bravo', tenant: 'tenant-b', clock })
  await pin(alpha, bravo)
  await pin(bravo, alpha)
  await Promise.all([alpha.start(), bravo.start()])
  const from = foldersOf(bravo.folder.filedrop, 'alpha')
  const to = foldersOf(alpha.folder.filedrop, 'bravo')
  const held = (use: PublicKey['use']) =>
    readKeyFiles(bravo.folder.keys).filter((key) => key.public_key.use === use && key.public_key.status === 'active')
  const pinned = () => get(alpha.folder, 'bravo')
  const ready = () => fs.readdirSync(from.ready).sort()
  return {
    clock,
    alpha,
    bravo,
    ready,
    held,
    pinned,
    carry(isLost = () => false) {
      const files = ready()
      for (const file of files) {
        if (!isLost(file)) fs.copyFileSync(join(from.ready, file), join(to.fresh, `.${file}`))
        if (!isLost(file)) fs.renameSync(join(to.fresh, `.${file}`), join(to.fresh, file))
        fs.rmSync(join(from.ready, file))
      }
      return files.length / 2
    },
    quarantined: () =>
      fs
        .readdirSync(to.quarantine)
        .filter((name) => name.endsWith('.reason.json'))
        .map((name) => JSON.parse(fs.readFileSync(join(to.quarantine, name), 'utf8'))),
    pinnedAt: (version) =>
      until(async () => {
        const peer = await pinned()
        return peer.key_set?.version === version && peer
      }),
    async rotate(kid, algorithm) {
      clock.advance(1_000)
      const terms = { now: clock.now(), ...(algorithm ? { algorithm } : {}) }
      const { key_set = 0 } = await rotate(bravo.folder, {}, kid, terms)
      return key_set
    },
    async end() {
      await Promise.all([alpha.end(), bravo.end()])
    },
  }
}

/** As people do it who have compared the fingerprints. */
export async function pin(site: SiteWorld, peer: SiteWorld): Promise<void> {
  await add(
    site.folder,
    {},
    {
      name: peer.name,
      tenant_id: peer.tenant,
      keys: listKeys(peer.folder.keys).filter(({ use }) => use === 'message' || use === 'root'),
      ceiling: { level: 'SECRET', categories: [] },
      releasable_names: [],
      threshold: undefined,
      not_after_days: undefined,
      inventory_interval_s: undefined,
      now: site.clock.now(),
    },
  )
}
