// Delegation as other roles request it: contracts of the site role.
import * as z from 'zod'
import {
  delegatedToken,
  delegationAudience,
  max_grant_length,
  principal,
  workPlace,
} from '../../kernel/identity/delegation.ts'
import { operationContract } from '../../kernel/operation/operation-contract.ts'
import { secretText } from '../../kernel/secret/secret-text.ts'

/** Exactly one credential, a grant with the place where it is stored. Provider tokens may be larger than those of the site. */
const credentialFields = {
  subject_token: secretText(16_384).optional().meta({ description: 'Token that the caller presented' }),
  certificate: z
    .base64url()
    .min(1)
    .max(32_768)
    .optional()
    .meta({ description: 'DER of the client certificate that the caller presented, base64url' }),
  grant: secretText(max_grant_length).optional().meta({ description: 'Grant of stored work' }),
  stored_at: workPlace.optional().meta({ description: 'Place of the work that has the grant' }),
}

export const createGrant = operationContract({
  address: 'site.delegation.grant',
  input: z.strictObject({
    ...credentialFields,
    work: workPlace.meta({ description: 'Place of the work that the new grant is for' }),
  }),
  output: z
    .strictObject({ grant: z.string(), principal })
    .meta({ id: 'DelegationGrant', description: 'Lets the requesting role act later for the principal' }),
})

export const resolvePrincipal = operationContract({
  address: 'site.delegation.principal',
  input: z.strictObject(credentialFields),
  output: principal.meta({ id: 'Principal', description: 'A party with its rights now' }),
})

export const issueDelegatedToken = operationContract({
  address: 'site.delegation.token',
  input: z.strictObject({
    ...credentialFields,
    audience: delegationAudience,
    max_level: z
      .string()
      .min(1)
      .max(64)
      .optional()
      .meta({ description: 'Highest level of the clearance in the token (default: that of the principal)' }),
  }),
  output: delegatedToken.meta({ id: 'DelegatedToken', description: 'A short-lived token for one audience' }),
})
