// Data of messages of kind `inventory`: a sender lists at intervals the messages that it has sent, and the heads of
// its audit chains.
import * as z from 'zod'
import { jws } from '../cryptography/signatures.ts'
import { hex96 } from './statement.ts'

export const inventory_schema = 'platform.inventory/1'
export const max_digests = 1_024
export const max_checkpoints = 32

/** The head of one of the sender's audit chains, as it was anchored. */
export const carriedCheckpoint = z.strictObject({
  writer: z.string().min(1).max(256),
  seq: z.int().min(0),
  hash: z.string().regex(/^[0-9a-f]{64}$/),
  at: z.iso.datetime(),
  signature: jws,
})
export type CarriedCheckpoint = z.infer<typeof carriedCheckpoint>

/**
 * `digests` ends with the digest of `highest`, the number before the inventory's own. `rolling` repeats it, or is
 * zeros.
 */
export const inventoryData = z.strictObject({
  epoch: z.int().min(1),
  highest: z.int().min(0),
  rolling: hex96,
  digests: z.array(hex96).max(max_digests),
  checkpoints: z.array(carriedCheckpoint).max(max_checkpoints),
})
export type InventoryData = z.infer<typeof inventoryData>
