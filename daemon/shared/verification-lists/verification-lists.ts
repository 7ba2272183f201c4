// The lists by which tokens are verified, as roles on other machines request them of the site role.
import * as z from 'zod'
import { operationContract } from '../../kernel/operation/operation-contract.ts'

/** Of one list in bytes; with a longer one, roles on other machines accept no token. */
export const max_list_bytes = 4_194_304

const listText = z.string().max(max_list_bytes)

const verificationLists = z.strictObject({
  token_keys: listText.meta({ description: 'Public token keys, as in identity/token-keys.json' }),
  revocations: listText.meta({ description: 'Revocations, as in identity/revoked.jsonl' }),
})

export type VerificationLists = z.infer<typeof verificationLists>

export const getVerificationLists = operationContract({
  address: 'site.verification.get',
  input: z.strictObject({
    known: z
      .string()
      .regex(/^[0-9a-f]{64}$/)
      .optional()
      .meta({ description: 'Digest of the lists that the role has' }),
  }),
  output: z
    .strictObject({
      digest: z.string(),
      lists: verificationLists.optional().meta({ description: 'Absent: those that the role has' }),
    })
    .meta({ id: 'VerificationLists', description: 'Public lists by which tokens of the site are verified' }),
})
