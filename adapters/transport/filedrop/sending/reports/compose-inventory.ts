// Composes an inventory of all sent messages, by which a receiver detects missing ones.

import type { Peer } from '../../../../../daemon/kernel/identity/peer.ts'
import {
  type CarriedCheckpoint,
  type InventoryData,
  inventory_schema,
  max_checkpoints,
  max_digests,
} from '../../../../../daemon/kernel/messaging/inventory.ts'
import type { SentHead } from '../../../../../daemon/kernel/messaging/journal.ts'
import type { OutboundMessage } from '../../../../../daemon/kernel/messaging/transport.ts'
import { no_predecessor } from '../../checks/sequence-check.ts'
import type { FiledropContext } from '../../filedrop-context.ts'
import { ownLabel } from '../own-label.ts'

/** Digests of the last numbers up to the head, at most so many, lowest first. */
export type RecentDigests = (limit: number) => Promise<readonly string[]>

/** The content depends on the number of the inventory: it is composed in the step that numbers it. */
export async function composeInventory(
  peer: Peer,
  head: SentHead,
  recent: RecentDigests,
  filedrop: FiledropContext,
): Promise<OutboundMessage> {
  const checkpoints = (await filedrop.checkpoints()).slice(0, max_checkpoints)
  const digests = await recent(maxDigests(checkpoints, filedrop))
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
    label: ownLabel(peer, filedrop),
    parent_block_ids: [],
  }
}

/** A smaller cap on bodies leaves room for fewer numbers. */
function maxDigests(checkpoints: readonly CarriedCheckpoint[], { settings }: FiledropContext): number {
  const rest = settings.max_body_bytes - JSON.stringify(checkpoints).length - overhead_bytes
  return Math.max(0, Math.min(max_digests, Math.floor(rest / digest_bytes)))
}

/** A digest with its quotes and comma. */
const digest_bytes = 99
/** Label, schema and the other members. */
const overhead_bytes = 4_096
