// Judges an inventory by its own statement: it must list exactly the messages before itself.
import { type InventoryData, inventory_schema, inventoryData } from '../../../../daemon/kernel/messaging/inventory.ts'
import type { UnlabelledStatement } from '../../../../daemon/kernel/messaging/statement-format.ts'
import { fault, type MessageFault } from '../quarantine-reasons.ts'
import { shapeFault } from './file-checks.ts'

export type InventoryReading = { readonly inventory: InventoryData } | { readonly fault: MessageFault }

export function readInventory(statement: UnlabelledStatement, data: unknown): InventoryReading {
  if (statement.body.schema !== inventory_schema)
    return { fault: fault('SCHEMA', 'its inventory schema is not supported here') }
  const parsed = inventoryData.safeParse(data)
  if (parsed.error) return { fault: shapeFault('the inventory', parsed.error, 'SCHEMA') }
  const { epoch, highest, rolling, digests } = parsed.data
  const isOwn = epoch === statement.epoch && highest === statement.seq - 1 && digests.length <= highest
  // Each statement holds the digest of the one before: the last one stands for all of them.
  const isLast = rolling === statement.prev && (digests.at(-1) ?? rolling) === rolling
  if (!isOwn || !isLast) return { fault: fault('SCHEMA', 'it does not list the messages before it') }
  return { inventory: parsed.data }
}
