// Two served sites that have pinned each other's keys, and a folder between them that a test carries by hand.
import * as fs from 'node:fs'
import { join } from 'node:path'
import { readKeyFiles, type StoredKey } from '../../../adapters/keys/jose/key-files.ts'
import { listKeys } from '../../../adapters/keys/jose/key-lifecycle.ts'
import { foldersOf } from '../../../adapters/transport/filedrop/files/channel-folders.ts'
import type { KeyAlgorithm, PublicKey } from '../../../daemon/kernel/cryptography/signatures.ts'
import type { Peer } from '../../../daemon/kernel/identity/peer.ts'
import { rotateSiteKey } from '../../../daemon/offline/keys/site-keys.ts'
import { addPeer, getPeer } from '../../../daemon/offline/peers/site-peers.ts'
import { type SimulatedClock, simulatedClock } from '../clock/simulated-clock.ts'
import { createTestSite, type TestSite, waitUntil } from './test-site.ts'

export type PinnedSitePair = {
  readonly clock: SimulatedClock
  readonly alpha: TestSite
  readonly bravo: TestSite
  /** The files for bravo's carrier; those of one message are together, in the order of the numbers. */
  listReady(): string[]
  /** Takes everything from bravo to alpha but the files to lose on the way; returns the number of messages. */
  carry(isLost?: (file: string) => boolean): number
  /** Of alpha's channel from bravo. */
  listQuarantined(): { reason: string; code?: string; detail: string }[]
  /** Bravo as alpha has pinned it. */
  readPinned(): Promise<Peer>
  /** Resolves when alpha has pinned this version. */
  waitForPinned(version: number): Promise<Peer>
  /** Bravo's active keys of this use, with their private halves. */
  activeKeys(use: PublicKey['use']): StoredKey[]
  /** As `platform keys rotate` at bravo; the version that says so. */
  rotate(kid: string, algorithm?: KeyAlgorithm): Promise<number>
  end(): Promise<void>
}

/** Both run when it resolves. */
export async function startPinnedSitePair(): Promise<PinnedSitePair> {
  const clock = simulatedClock()
  const alpha = await createTestSite({ name: 'alpha', tenant: 'tenant-a', clock })
  const bravo = await createTestSite({ name: 'bravo', tenant: 'tenant-b', clock })
  await pinPeerKeys(alpha, bravo)
  await pinPeerKeys(bravo, alpha)
  await Promise.all([alpha.start(), bravo.start()])
  const from = foldersOf(bravo.folder.filedrop, 'alpha')
  const to = foldersOf(alpha.folder.filedrop, 'bravo')
  const held = (use: PublicKey['use']) =>
    readKeyFiles(bravo.folder.keys).filter((key) => key.public_key.use === use && key.public_key.status === 'active')
  const pinned = () => getPeer(alpha.folder, 'bravo')
  const ready = () => fs.readdirSync(from.ready).sort()
  return {
    clock,
    alpha,
    bravo,
    listReady: ready,
    activeKeys: held,
    readPinned: pinned,
    carry(isLost = () => false) {
      const files = ready()
      for (const file of files) {
        if (!isLost(file)) fs.copyFileSync(join(from.ready, file), join(to.fresh, `.${file}`))
        if (!isLost(file)) fs.renameSync(join(to.fresh, `.${file}`), join(to.fresh, file))
        fs.rmSync(join(from.ready, file))
      }
      return files.length / 2
    },
    listQuarantined: () =>
      fs
        .readdirSync(to.quarantine)
        .filter((name) => name.endsWith('.reason.json'))
        .map((name) => JSON.parse(fs.readFileSync(join(to.quarantine, name), 'utf8'))),
    waitForPinned: (version) =>
      waitUntil(async () => {
        const peer = await pinned()
        return peer.key_set?.version === version && peer
      }),
    async rotate(kid, algorithm) {
      clock.advance(1_000)
      const terms = { now: clock.now(), ...(algorithm ? { algorithm } : {}) }
      const { key_set = 0 } = await rotateSiteKey(bravo.folder, {}, kid, terms)
      return key_set
    },
    async end() {
      await Promise.all([alpha.end(), bravo.end()])
    },
  }
}

/** As people do it who have compared the fingerprints. */
export async function pinPeerKeys(site: TestSite, peer: TestSite): Promise<void> {
  await addPeer(
    site.folder,
    {},
    {
      name: peer.name,
      tenant_id: peer.tenant,
      keys: listKeys(peer.folder.keys).filter(({ use }) => use === 'message' || use === 'root'),
      ceiling_level: 'SECRET',
      now: site.clock.now(),
    },
  )
}
