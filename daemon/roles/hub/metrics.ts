// The hub role's metrics.
import { counter, gauge } from '../../kernel/telemetry/metrics.ts'

export const messageTotal = counter('hub_message_total', 'Messages between nodes, by outcome', ['outcome'])
export const feedTotal = counter('hub_feed_total', 'Entries of status feeds', ['state'])
export const nodeCount = gauge('hub_node', 'Nodes that are present or lost', ['state'])
export const metrics = [messageTotal, feedTotal, nodeCount]
