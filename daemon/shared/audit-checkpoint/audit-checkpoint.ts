// The signed head of an audit chain, which the site role keeps for the chain of each role.
import * as z from 'zod'
import { jws } from '../../kernel/cryptography/signatures.ts'
import { operationContract } from '../../kernel/operation/operation-contract.ts'

export const chainHead = z.strictObject({
  writer: z.string().min(1).max(256),
  seq: z.int().min(0),
  hash: z.string().regex(/^[0-9a-f]{64}$/),
})

export const checkpoint = z
  .strictObject({ id: z.string(), ...chainHead.shape, at: z.iso.datetime(), signature: jws })
  .meta({ id: 'Checkpoint', description: 'A signed head of an audit chain' })

export const createCheckpoint = operationContract({
  address: 'site.checkpoint.create',
  input: chainHead,
  output: checkpoint,
})
