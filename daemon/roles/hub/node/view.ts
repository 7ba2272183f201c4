// A node as the interface shows it: present or lost by the time of the call.
import type { Call } from '../../../kernel/call.ts'
import type { Doc } from '../../../kernel/store.ts'
import { settings } from '../settings.ts'
import type { Node, StoredNode } from './model.ts'
import { stateOf } from './rules.ts'

export function silence(call: Call): number {
  const { heartbeat_s, lost_after } = call.settings(settings)
  return heartbeat_s * lost_after * 1_000
}

export function shown(call: Call, { id, value }: Doc<StoredNode>): Node {
  const { tenant_id: _coalition, heard_ts, ...rest } = value
  const heard_at = new Date(heard_ts).toISOString()
  return { id, ...rest, state: stateOf(heard_ts, call.now(), silence(call)), heard_at }
}
