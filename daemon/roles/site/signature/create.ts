// Signs evidence of another role with the site's message key. Heads of audit chains are signed where they are anchored.
import * as z from 'zod'
import { jws } from '../../../kernel/keys.ts'
import { operation } from '../../../kernel/operation.ts'
import { signaturesPart } from '../parts.ts'

export const create = operation({
  summary: 'Sign evidence with the site’s key',
  method: 'POST',
  path: '/api/v2/site/signature',
  input: z.strictObject({
    type: z.literal('evidence'),
    payload: z.base64url().max(65_536).meta({ description: 'The bytes to sign, base64url' }),
  }),
  output: jws.meta({ id: 'Jws', description: 'JWS, general JSON serialisation' }),
  errors: ['unavailable'],
  allow: 'evidence:sign',

  run: async (call, { type, payload }) => call.part(signaturesPart).sign(type, Buffer.from(payload, 'base64url')),
})
