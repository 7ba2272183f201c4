// Answers what a principal may do now, for a role that acts for it.
import { isRefusal } from '../../../kernel/error/errors.ts'
import { operation } from '../../../kernel/operation/operation.ts'
import { resolvePrincipal } from '../../../shared/delegation/delegation.ts'
import { identifyPrincipal } from './identify.ts'

export const principal = operation({
  summary: 'The principal of a credential or of stored work as it is now',
  method: 'POST',
  path: '/api/v2/site/delegation/principal',
  input: resolvePrincipal.input,
  output: resolvePrincipal.output,
  errors: ['unavailable'],
  allow: 'role',

  async run(call, credential) {
    const identified = await identifyPrincipal(call, credential)
    return isRefusal(identified) ? identified : identified.principal
  },
})
