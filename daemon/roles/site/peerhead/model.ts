// The heads of peers' audit chains as their inventories tell of them, kept here: out of reach of whoever cuts a chain short there.
import * as z from 'zod'
import { jws } from '../../../kernel/cryptography/signatures.ts'
import { collection } from '../../../kernel/store/store.ts'
import { chainHead } from '../checkpoint/model.ts'

const peerHead = z.strictObject({
  tenant_id: z.string(),
  peer: z.string(),
  ...chainHead.shape,
  at: z.iso.datetime(),
  signature: jws,
  /** Of the inventory that told of it. */
  epoch: z.int(),
  number: z.int(),
})

/** The newest of each chain. */
export const peerHeads = collection({ name: 'peer_head', schema: peerHead, indexes: ['peer'] })
export type PeerHead = z.infer<typeof peerHead>
