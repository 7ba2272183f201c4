// The hub role's metrics.
import { counter, gauge } from '../../kernel/telemetry/metrics.ts'
import { statusEvent } from '../../shared/coalition/hub-protocol.ts'
import { nodeState } from './node/model.ts'

export const messageTotal = counter('hub_message_total', 'Messages between nodes, by outcome', {
  outcome: ['delivered', 'acknowledged', 'full'],
})
export const feedTotal = counter('hub_feed_total', 'Entries of status feeds', {
  state: statusEvent.shape.state.options,
})
export const nodeCount = gauge('hub_node', 'Nodes that are present or lost', { state: nodeState.options })
export const metrics = [messageTotal, feedTotal, nodeCount]
