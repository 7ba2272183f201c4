// The issuer's metadata document (RFC 8414), also at the path where OpenID clients look.
import * as z from 'zod'
import { operation } from '../../../kernel/operation/operation.ts'
import { issuerPart } from '../parts.ts'
import { issuerUrl, settings } from '../settings.ts'
import { discoveryDocument } from './model.ts'
import { discoveryOf } from './rules.ts'

export const discovery = operation({
  summary: 'Metadata of the token issuer (RFC 8414)',
  method: 'GET',
  path: '/.well-known/oauth-authorization-server',
  also: ['/.well-known/openid-configuration'],
  input: z.strictObject({}),
  output: discoveryDocument,
  errors: [],
  allow: 'public',

  async run(call) {
    const { issuer, role_names } = call.part(issuerPart)
    return discoveryOf(issuer, issuerUrl(call.settings(settings)), { token: '/oauth2/token', jwks: '/oauth2/jwks' }, [
      ...role_names,
    ])
  },
})
