// What a sender says from time to time of all that it has sent, so that a receiver finds out what never came.
import {
  type CarriedCheckpoint,
  type InventoryData,
  inventory_schema,
  most_checkpoints,
  most_digests,
} from '../../../../daemon/kernel/inventory.ts'
import type { SentHead } from '../../../../daemon/kernel/journal.ts'
import type { Peer } from '../../../../daemon/kernel/peer.ts'
import type { Outgoing } from '../../../../daemon/kernel/transport.ts'
import { no_predecessor } from '../checks/sequence-check.ts'
import type { Surroundings } from '../surroundings.ts'
import { ownLabel } from './own-label.ts'

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
