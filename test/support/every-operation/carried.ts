// What sites that are told of nothing sign for each other in a stage: key sets, receipts of what is missing, epochs.
import path from 'node:path'
import { joseSignatures } from '../../../adapters/keys/jose/signatures.ts'
import { signEpoch } from '../../../daemon/boot/offline/epoch-signing.ts'
import { signedSet } from '../../../daemon/boot/offline/key-set-draft.ts'
import { signDraft } from '../../../daemon/boot/offline/key-set-signing.ts'
import { draft } from '../../../daemon/boot/offline/site-key-sets.ts'
import { type SiteFolder, siteFolder } from '../../../daemon/boot/site-folder.ts'
import { canonical } from '../../../daemon/kernel/canonical.ts'
import { inventory_schema } from '../../../daemon/kernel/inventory.ts'
import type { Jws } from '../../../daemon/kernel/keys.ts'
import {
  type EpochAnnouncement,
  epochAnnouncement,
  type GapReceipt,
  keys_schema,
} from '../../../daemon/kernel/one-way.ts'
import { neighbour } from '../small-site.ts'
import { type Stage, signedBy } from './stage.ts'

const deltas = new WeakMap<Stage, Promise<SiteFolder>>()

/** The peer delta, made when it is first asked for: what becomes of its keys and its channel is no other test's. */
export function delta(stage: Stage): Promise<SiteFolder> {
  const known = deltas.get(stage) ?? neighbour(stage.site, 'delta')
  deltas.set(stage, known)
  return known
}

/** The first key set of the site, signed by its root keys, as made at this time (epoch milliseconds). */
export async function firstKeySet(folder: SiteFolder, now = Date.now()): Promise<Jws> {
  const drafted = await draft(folder, {}, { thresholds: {}, becomes: {}, now })
  const { draft: signed } = await signDraft(folder.keys, { draft: drafted, instead: true })
  const set = signedSet(signed)
  if (!set) throw new Error('nobody signed it')
  return set
}

/** The signed message in which delta tells of this key set. */
export async function toldByDelta(stage: Stage, keyset: Jws, change: Readonly<Record<string, unknown>> = {}) {
  const { keys } = await delta(stage)
  const sender = { name: 'delta', signatures: joseSignatures({ dir: keys }) }
  return await signedBy(sender, { kind: 'keys', schema: keys_schema, data: { keyset } }, change)
}

const frozen = new WeakMap<Stage, Promise<SiteFolder>>()

/** A peer whose root keys have signed two histories: nothing of it is taken any more. */
export async function frozenPeer(stage: Stage): Promise<string> {
  const { site, admin } = stage
  const made = frozen.get(stage) ?? neighbour(site, 'echo')
  frozen.set(stage, made)
  const { keys } = await made
  const sender = { name: 'echo', signatures: joseSignatures({ dir: keys }) }
  for (const later of [0, 3_600_000]) {
    const keyset = await firstKeySet(await made, Date.now() + later)
    const body = await signedBy(sender, { kind: 'keys', schema: keys_schema, data: { keyset } })
    await site.ask('site', { method: 'POST', path: '/api/v2/site/keyset', token: admin, body })
  }
  // Whoever looks at it first brings the alarm into the audit chain: not one of the requests that must change nothing.
  await site.ask('site', { method: 'GET', path: '/api/v2/site/channel', token: admin })
  return 'echo'
}

/** The signed message in which bravo tells of the head of its audit chain, with changes to the statement. */
export async function toldByBravo({ site: { bravo } }: Stage, change: Readonly<Record<string, unknown>> = {}) {
  const head = { writer: 'site@bravo', seq: 3, hash: 'a'.repeat(64), at: '2026-03-01T12:00:00.000Z' }
  const signature = await bravo.sign('checkpoint', Buffer.from(canonical(head)))
  const zeros = '0'.repeat(96)
  const data = { epoch: 1, highest: 0, rolling: zeros, digests: [], checkpoints: [{ ...head, signature }] }
  return await signedBy(
    { name: 'bravo', signatures: bravo },
    { kind: 'inventory', schema: inventory_schema, data },
    change,
  )
}

/** Bravo's receipt: the first message to it never came. */
export function gapReceipt({ site }: Stage): Promise<Jws> {
  const receipt: GapReceipt = {
    ...{ v: 1, type: 'platform.gap_receipt', channel: 'filedrop/alpha/bravo', src: 'bravo', dst: 'alpha' },
    ...{ epoch: 1, highest: 1, floor: 0, missing: [{ first: 1, last: 1 }] },
    created: new Date().toISOString(),
    not_after: new Date(Date.now() + 86_400_000).toISOString(),
  }
  return site.bravo.sign('gap-receipt', Buffer.from(canonical(receipt)))
}

/** The next epoch towards bravo, with changes, signed by the root keys of `by`; else by the site's own. */
export async function announced(
  { site, admin }: Stage,
  change: Partial<EpochAnnouncement> = {},
  by = 'alpha',
): Promise<Jws> {
  const { json } = await site.ask('site', { method: 'GET', path: '/api/v2/site/epoch?peer=bravo', token: admin })
  const said = epochAnnouncement.parse({ ...(json as object), reason: 'other', ...change })
  return await signEpoch(siteFolder(path.join(site.dir, by)).keys, said)
}
