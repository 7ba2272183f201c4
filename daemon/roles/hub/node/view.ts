// Shows a node as the API returns it: present or lost by the time of the call.
import type { Call } from '../../../kernel/operation/call.ts'
import type { Doc } from '../../../kernel/store/store.ts'
import { settings } from '../settings.ts'
import type { CoalitionNode, StoredNode } from './model.ts'
import { nodeStateAt } from './rules.ts'

export function silenceLimit(call: Call): number {
  const { heartbeat_s, lost_after } = call.settings(settings)
  return heartbeat_s * lost_after * 1_000
}

export function showNode(call: Call, { id, value }: Doc<StoredNode>): CoalitionNode {
  const { tenant_id: _coalition, heard_ts, ...rest } = value
  const heard_at = new Date(heard_ts).toISOString()
  return { id, ...rest, state: nodeStateAt(heard_ts, call.now(), silenceLimit(call)), heard_at }
}
