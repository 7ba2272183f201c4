// Signed heads of audit chains, kept apart from the chains, so that cutting one short shows.
import * as z from 'zod'
import { jws } from '../../../kernel/cryptography/signatures.ts'
import { collection } from '../../../kernel/store/store.ts'
import { chainHead } from '../../../shared/audit-checkpoint/audit-checkpoint.ts'

export const checkpoints = collection({
  name: 'checkpoint',
  schema: z.strictObject({ tenant_id: z.string(), ...chainHead.shape, at: z.iso.datetime(), signature: jws }),
  indexes: ['writer', 'seq', 'at'],
})
