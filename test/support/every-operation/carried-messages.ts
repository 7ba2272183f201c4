// Statements that one-way sites sign for each other in a stage: key sets, receipts of missing messages, epochs.
import path from 'node:path'
import { joseSignatures } from '../../../adapters/keys/jose/signatures.ts'
import { type SiteFolder, siteFolder } from '../../../daemon/boot/storage/site-folder.ts'
import type { Jws } from '../../../daemon/kernel/cryptography/signatures.ts'
import { canonicalJson } from '../../../daemon/kernel/encoding/canonical-json.ts'
import { inventory_schema } from '../../../daemon/kernel/messaging/inventory.ts'
import {
  type EpochAnnouncement,
  epochAnnouncement,
  type GapReceipt,
  keys_schema,
} from '../../../daemon/kernel/messaging/one-way-control.ts'
import { signEpoch } from '../../../daemon/offline/filedrop/epoch-signing.ts'
import { toSignedSet } from '../../../daemon/offline/keys/key-set-draft.ts'
import { signKeySetDraft } from '../../../daemon/offline/keys/key-set-signing.ts'
import { draftSiteKeySet } from '../../../daemon/offline/keys/site-key-sets.ts'
import { createPinnedPeerFolder } from '../site/single-cluster-site.ts'
import { type OperationFixture, signMessage } from './operation-fixture.ts'

const deltaFolders = new WeakMap<OperationFixture, Promise<SiteFolder>>()

/** The peer delta, made on first use: the fate of its keys and its channel concerns no other test. */
export function openDeltaSite(stage: OperationFixture): Promise<SiteFolder> {
  const known = deltaFolders.get(stage) ?? createPinnedPeerFolder(stage.site, 'delta')
  deltaFolders.set(stage, known)
  return known
}

/** The first key set of the site, signed by its root keys, as made at this time (epoch milliseconds). */
export async function signFirstKeySet(folder: SiteFolder, now = Date.now()): Promise<Jws> {
  const drafted = await draftSiteKeySet(folder, {}, { thresholds: {}, key_changes: {}, now })
  const { draft: signed } = await signKeySetDraft(folder.keys, { draft: drafted, instead: true })
  const set = toSignedSet(signed)
  if (!set) throw new Error('nobody signed it')
  return set
}

/** The signed message in which delta tells of this key set. */
export async function signDeltaKeysMessage(
  stage: OperationFixture,
  keyset: Jws,
  change: Readonly<Record<string, unknown>> = {},
) {
  const { keys } = await openDeltaSite(stage)
  const sender = { name: 'delta', signatures: joseSignatures({ dir: keys }) }
  return await signMessage(sender, { kind: 'keys', schema: keys_schema, data: { keyset } }, change)
}

const frozenPeers = new WeakMap<OperationFixture, Promise<SiteFolder>>()

/** A peer whose root keys have signed two histories: nothing of it is taken any more. */
export async function freezePeer(stage: OperationFixture): Promise<string> {
  const { site, admin, carrier } = stage
  const made = frozenPeers.get(stage) ?? createPinnedPeerFolder(site, 'echo')
  frozenPeers.set(stage, made)
  const { keys } = await made
  const sender = { name: 'echo', signatures: joseSignatures({ dir: keys }) }
  for (const later of [0, 3_600_000]) {
    const keyset = await signFirstKeySet(await made, Date.now() + later)
    const body = await signMessage(sender, { kind: 'keys', schema: keys_schema, data: { keyset } })
    await site.request('site', { method: 'POST', path: '/api/v2/site/keyset', token: carrier, body })
  }
  // The first look at it brings the alarm into the audit chain: not one of the requests that must change nothing.
  await site.request('site', { method: 'GET', path: '/api/v2/site/channel', token: admin })
  return 'echo'
}

/** The signed message in which bravo tells of the head of its audit chain, with changes to the statement. */
export async function signBravoInventory(
  { site: { bravo } }: OperationFixture,
  change: Readonly<Record<string, unknown>> = {},
) {
  const head = { writer: 'site@bravo', seq: 3, hash: 'a'.repeat(64), at: '2026-03-01T12:00:00.000Z' }
  const signature = await bravo.sign('checkpoint', Buffer.from(canonicalJson(head)))
  const zeros = '0'.repeat(96)
  const data = { epoch: 1, highest: 0, rolling: zeros, digests: [], checkpoints: [{ ...head, signature }] }
  return await signMessage(
    { name: 'bravo', signatures: bravo },
    { kind: 'inventory', schema: inventory_schema, data },
    change,
  )
}

/** Bravo's receipt: the first message to it never came. */
export function signGapReceipt({ site }: OperationFixture): Promise<Jws> {
  const receipt: GapReceipt = {
    ...{ v: 1, type: 'platform.gap_receipt', channel: 'filedrop/alpha/bravo', src: 'bravo', dst: 'alpha' },
    ...{ epoch: 1, highest: 1, floor: 0, missing: [{ first: 1, last: 1 }] },
    created: new Date().toISOString(),
    not_after: new Date(Date.now() + 86_400_000).toISOString(),
  }
  return site.bravo.sign('gap-receipt', Buffer.from(canonicalJson(receipt)))
}

/** The next epoch towards bravo, with changes, signed by the root keys of `by`; else by the site's own. */
export async function signEpochAnnouncement(
  { site, admin }: OperationFixture,
  change: Partial<EpochAnnouncement> = {},
  by = 'alpha',
): Promise<Jws> {
  const { json } = await site.request('site', { method: 'GET', path: '/api/v2/site/epoch?peer=bravo', token: admin })
  const announcement = epochAnnouncement.parse({ ...(json as object), reason: 'other', ...change })
  return await signEpoch(siteFolder(path.join(site.dir, by)).keys, announcement)
}
