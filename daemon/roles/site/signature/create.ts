// Signs evidence and registries of other roles with the site's message key. Heads of audit chains are signed where they are anchored.
import * as z from 'zod'
import { jws } from '../../../kernel/cryptography/signatures.ts'
import { operation } from '../../../kernel/operation/operation.ts'
import { signaturesPart } from '../parts.ts'

export const create = operation({
  summary: 'Sign evidence, or a snapshot of a registry, with the site’s key',
  method: 'POST',
  path: '/api/v2/site/signature',
  input: z.strictObject({
    type: z.enum(['evidence', 'registry']),
    payload: z.base64url().max(65_536).meta({ description: 'The bytes to sign, base64url' }),
  }),
  output: jws.meta({ id: 'Jws', description: 'JWS, general JSON serialisation' }),
  errors: ['unavailable'],
  allow: 'evidence:sign',

  run: async (call, { type, payload }) => call.part(signaturesPart).sign(type, Buffer.from(payload, 'base64url')),
})
