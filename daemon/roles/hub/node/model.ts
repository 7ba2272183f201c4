// A node of a coalition: its own description, and the time of last contact.
import * as z from 'zod'
import { siteName } from '../../../kernel/messaging/statement.ts'
import { collection } from '../../../kernel/store/store.ts'
import { capabilityMessage, nodeRegistration } from '../../../shared/coalition/hub-protocol.ts'

export const nodeState = z.enum(['present', 'lost'])
export type NodeState = z.infer<typeof nodeState>

const publishedCapability = z.strictObject({ message: capabilityMessage, at: z.iso.datetime() })

const nodeFields = {
  ...nodeRegistration.shape,
  capability: publishedCapability.optional().meta({ description: 'Newest capability message of the node' }),
  registered_at: z.iso.datetime(),
}

const storedNode = z.strictObject({
  /** The coalition: nodes of one tenant cannot see those of another. */
  tenant_id: z.string(),
  ...nodeFields,
  /** Epoch milliseconds. */
  heard_ts: z.number(),
})
export type StoredNode = z.infer<typeof storedNode>

/** Nodes, by name. */
export const nodes = collection({ name: 'node', schema: storedNode, indexes: ['heard_ts'] })

export const node = z
  .strictObject({ id: siteName, ...nodeFields, state: nodeState, heard_at: z.iso.datetime() })
  .meta({ id: 'CoalitionNode', description: 'A node of the coalition' })
export type CoalitionNode = z.infer<typeof node>

export const idInput = z.strictObject({ id: siteName })
