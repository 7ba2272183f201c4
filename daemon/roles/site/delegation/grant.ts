// Seals a grant, with which the requesting role may act later for the principal of work that it stores.
import { isRefusal } from '../../../kernel/error/errors.ts'
import { operation } from '../../../kernel/operation/operation.ts'
import { createGrant } from '../../../shared/delegation/delegation.ts'
import { identifyPrincipal } from './identify.ts'
import { decideGrant } from './rules.ts'

export const grant = operation({
  summary: 'Let a role of the site act later for the principal of stored work',
  method: 'POST',
  path: '/api/v2/site/delegation/grant',
  input: createGrant.input,
  output: createGrant.output,
  errors: ['unavailable'],
  allow: 'role',

  async run(call, { work, ...credential }) {
    const identified = await identifyPrincipal(call, credential)
    if (isRefusal(identified)) return identified
    const { role, delegations, held, principal } = identified
    const decided = decideGrant(held, principal, {
      now_s: Math.floor(call.now() / 1_000),
      life_s: delegations.grant_life_s,
    })
    if (isRefusal(decided)) return decided
    const sealed = await delegations.seal(role, work, decided.claims, decided.exp)
    const until = new Date(decided.exp * 1_000).toISOString()
    const detail = { role, work: work.collection, roles: principal.roles, until }
    const event = call.audited('site.delegation.grant', principal.subject, detail)
    await call.record([{ ...event, tenant_id: principal.tenant_id }])
    return { grant: sealed, principal }
  },
})
