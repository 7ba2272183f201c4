// What a sender says from time to time of all that it has sent, so that a receiver finds out what never came.
import * as z from 'zod'
import type { SentHead } from '../../../daemon/kernel/journal.ts'
import { jws } from '../../../daemon/kernel/keys.ts'
import type { Peer } from '../../../daemon/kernel/peer.ts'
import { hex96, type Outgoing } from '../../../daemon/kernel/transport.ts'
import { ownLabel } from './own-label.ts'
import { no_predecessor } from './sequence-check.ts'
import type { Surroundings } from './surroundings.ts'

export const inventory_schema = 'platform.inventory/1'
const most_digests = 1_024
const most_checkpoints = 32

/** The head of one of the sender's audit chains, as it was anchored. */
export const carriedCheckpoint = z.strictObject({
  writer: z.string().min(1).max(256),
  seq: z.int().min(0),
  hash: z.string().regex(/^[0-9a-f]{64}$/),
  at: z.iso.datetime(),
  signature: jws,
})
export type CarriedCheckpoint = z.infer<typeof carriedCheckpoint>

/** `digests` ends with that of `highest`, the number before the inventory's own; `rolling` is that one again, or zeros. */
export const inventoryData = z.strictObject({
  epoch: z.int().min(1),
  highest: z.int().min(0),
  rolling: hex96,
  digests: z.array(hex96).max(most_digests),
  checkpoints: z.array(carriedCheckpoint).max(most_checkpoints),
})
export type InventoryData = z.infer<typeof inventoryData>

/** Digests of the last numbers up to the head, at most so many, lowest first. */
export type Recent = (limit: number) => Promise<readonly string[]>

/** What it says depends on the number that it gets: it is composed in the step that numbers it. */
export async function composeInventory(
  peer: Peer,
  head: SentHead,
  recent: Recent,
  around: Surroundings,
): Promise<Outgoing> {
  const checkpoints = (await around.checkpoints()).slice(0, most_checkpoints)
  const digests = await recent(roomFor(checkpoints, around))
  const data: InventoryData = {
    epoch: head.epoch,
    highest: head.seq,
    rolling: head.digest ?? no_predecessor,
    digests: [...digests],
    checkpoints: [...checkpoints],
  }
  return {
    peer: peer.name,
    event_id: `inventory:${head.epoch}:${head.seq + 1}`,
    kind: 'inventory',
    schema: inventory_schema,
    body: data,
    label: ownLabel(peer, around),
    parent_block_ids: [],
  }
}

/** A body smaller than the usual cap tells of fewer numbers. */
function roomFor(checkpoints: readonly CarriedCheckpoint[], { settings }: Surroundings): number {
  const rest = settings.max_body_bytes - JSON.stringify(checkpoints).length - bytes_around
  return Math.max(0, Math.min(most_digests, Math.floor(rest / digest_bytes)))
}

/** A digest with its quotes and comma. */
const digest_bytes = 99
/** Label, schema and the other members. */
const bytes_around = 4_096
