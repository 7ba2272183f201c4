// Signed heads of audit chains, kept apart from the chains, so that cutting one short shows.
import * as z from 'zod'
import { jws } from '../../../kernel/cryptography/signatures.ts'
import { collection } from '../../../kernel/store/store.ts'

export const chainHead = z.strictObject({
  writer: z.string().min(1).max(256),
  seq: z.int().min(0),
  hash: z.string().regex(/^[0-9a-f]{64}$/),
})

export const checkpoint = z
  .strictObject({ id: z.string(), ...chainHead.shape, at: z.iso.datetime(), signature: jws })
  .meta({ id: 'Checkpoint', description: 'A signed head of an audit chain' })

export const checkpoints = collection({
  name: 'checkpoint',
  schema: z.strictObject({ tenant_id: z.string(), ...chainHead.shape, at: z.iso.datetime(), signature: jws }),
  indexes: ['writer', 'seq', 'at'],
})
