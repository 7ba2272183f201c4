// The heads of peers' audit chains from their inventories, stored here, where an attacker at the peer cannot change them.
import * as z from 'zod'
import { jws } from '../../../kernel/cryptography/signatures.ts'
import { collection } from '../../../kernel/store/store.ts'
import { chainHead } from '../../../shared/audit-checkpoint/audit-checkpoint.ts'

const peerHead = z.strictObject({
  tenant_id: z.string(),
  peer: z.string(),
  ...chainHead.shape,
  at: z.iso.datetime(),
  signature: jws,
  /** Epoch and number of the inventory that reported it. */
  epoch: z.int(),
  number: z.int(),
})

/** The newest of each chain. */
export const peerHeads = collection({ name: 'peer_head', schema: peerHead, indexes: ['peer'] })
export type PeerHead = z.infer<typeof peerHead>
