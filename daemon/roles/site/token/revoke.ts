// Revokes a token, or every token of a subject issued so far; in force at once for every process of the site.
import * as z from 'zod'
import { refuse } from '../../../kernel/error/errors.ts'
import { operation } from '../../../kernel/operation/operation.ts'
import { requiredText } from '../../../kernel/operation/required-text.ts'
import { issuerPart } from '../parts.ts'

export const revoke = operation({
  summary: 'Revoke a token by its id, or all tokens of a subject',
  method: 'POST',
  path: '/api/v2/site/token/revocation',
  input: z.strictObject({
    jti: z.string().min(1).max(128).optional(),
    subject: z.string().min(1).max(256).optional(),
    reason: requiredText(256),
  }),
  output: z.strictObject({ revoked: z.string() }).meta({ id: 'Revoked' }),
  errors: ['unavailable'],
  allow: 'token:revoke',

  async run(call, { jti, subject, reason }) {
    if ((jti === undefined) === (subject === undefined)) return refuse('invalid', 'give either jti or subject')
    const what = jti === undefined ? { subject: subject ?? '' } : { jti }
    await call.part(issuerPart).revoke(what, reason)
    await call.record([call.audited('site.token.revoke', jti ?? subject ?? '', { reason })])
    return { revoked: jti ?? subject ?? '' }
  },
})
