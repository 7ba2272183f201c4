// Issues a short-lived token with which a role acts for a principal at one audience (RFC 8693).
import { sha256 } from '../../../kernel/encoding/canonical-json.ts'
import { isRefusal, type Refusal, refuse } from '../../../kernel/error/errors.ts'
import type { DelegatedToken, DelegationAudience } from '../../../kernel/identity/delegation.ts'
import type { Call } from '../../../kernel/operation/call.ts'
import { operation } from '../../../kernel/operation/operation.ts'
import { issueDelegatedToken } from '../../../shared/delegation/delegation.ts'
import { type IdentifiedPrincipal, identifyPrincipal } from './identify.ts'
import { decideDelegatedToken, limitLevel } from './rules.ts'

export const token = operation({
  summary: 'Issue a token for one audience to a role that acts for a principal (RFC 8693)',
  method: 'POST',
  path: '/api/v2/site/delegation/token',
  input: issueDelegatedToken.input,
  output: issueDelegatedToken.output,
  errors: ['unavailable'],
  allow: 'role',

  async run(call, { audience, max_level, ...credential }) {
    const found = await identifyPrincipal(call, credential)
    if (isRefusal(found)) return found
    const principal = limitLevel(found.principal, max_level, call.site.labels)
    if (isRefusal(principal)) return principal
    const identified = { ...found, principal }
    const { role, delegations, held } = identified
    const now_s = Math.floor(call.now() / 1_000)
    const targets = delegations.targetsOf(role)
    const decided = decideDelegatedToken(held, principal, { role, audience, targets, now_s })
    if (isRefusal(decided)) return decided
    const { act, derived_from } = decided.claims
    // Whoever presents another credential, or has other rights meanwhile, gets another token.
    const key = sha256(JSON.stringify([audience, principal, act, derived_from]))
    return await delegations.reuse(key, async () => {
      const issued = await issue(identified, { audience, max_level }, decided)
      if (!isRefusal(issued)) await recordToken(call, identified, audience, issued)
      return issued
    })
  },
})

/** The issuer of a credential exchanges it: the site cannot speak for an identity provider that services trust. */
async function issue(
  { role, presented, delegations }: IdentifiedPrincipal,
  { audience, max_level }: { readonly audience: DelegationAudience; readonly max_level: string | undefined },
  { claims, exp }: Exclude<ReturnType<typeof decideDelegatedToken>, Refusal>,
): Promise<DelegatedToken | Refusal> {
  const { subject_token } = presented
  const isAbroad = 'service' in audience && subject_token !== undefined && delegations.isExchangedAbroad(presented)
  if (isAbroad && max_level !== undefined)
    return refuse('forbidden', 'the identity provider issues no token with a lower clearance')
  if (isAbroad) return await delegations.exchangeAbroad(subject_token, audience.service)
  return await delegations.mint(role, claims, audience, exp)
}

async function recordToken(
  call: Call,
  { role, principal }: IdentifiedPrincipal,
  audience: DelegationAudience,
  { expires_ts }: DelegatedToken,
): Promise<void> {
  const detail = {
    role,
    ...describeAudience(audience),
    roles: principal.roles,
    ...(principal.clearance ? { level: principal.clearance.level } : {}),
    until: new Date(expires_ts).toISOString(),
  }
  const event = call.audited('site.delegation.token', principal.subject, detail)
  await call.record([{ ...event, tenant_id: principal.tenant_id }])
}

function describeAudience(audience: DelegationAudience): Readonly<Record<string, string>> {
  return 'role' in audience ? { audience_role: audience.role } : { audience_service: audience.service }
}
