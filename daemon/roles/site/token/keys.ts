// Returns the public keys of the site's issuer, which verifiers of its tokens need.
import * as z from 'zod'
import { operation } from '../../../kernel/operation/operation.ts'
import { issuerPart } from '../parts.ts'
import { jwks } from './model.ts'

export const keys = operation({
  summary: 'Get the issuer’s public keys (RFC 7517)',
  method: 'GET',
  path: '/oauth2/jwks',
  input: z.strictObject({}),
  output: jwks,
  errors: [],
  allow: 'public',

  async run(call) {
    const issuer = call.part(issuerPart)
    return jwks.parse(issuer.jwks(issuer.keys()))
  },
})
