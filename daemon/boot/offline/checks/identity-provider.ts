// Whether the identity provider can be reached, is who the profile says, and has keys that verify its tokens.
import { fetchKeySet } from '../../../../adapters/identity/oidc/discovery.ts'
import { providerKeys } from '../../../../adapters/keys/jose/provider-keys.ts'
import { ssoSettings } from '../../../kernel/sso-settings.ts'
import { valuesOf } from '../../profile.ts'
import { providerOf } from '../../sso.ts'
import type { Examined } from '../examination.ts'
import { type Finding, fine, problem, warning } from '../finding.ts'
import { siteSettings } from '../site-profile.ts'

export async function identityProviderFindings({ folder, env }: Examined): Promise<Finding[]> {
  const { resolved, identity } = siteSettings(folder, env)
  if (identity.provider !== 'oidc') return []
  const sso = valuesOf(resolved, ssoSettings)
  const findings: Finding[] = []
  if (sso.audience === 'account') {
    const detail = 'sso.audience is account, which tokens for other services may name as well'
    findings.push(warning('sso', detail, 'give the site an audience of its own at the identity provider'))
  }
  if (Object.keys(sso.role_map).length === 0) {
    const detail = 'sso.role_map is empty: nobody of the identity provider may do anything'
    findings.push(warning('sso', detail, 'name its roles in sso.role_map, each with roles of the site'))
  }
  try {
    const usable = providerKeys(await fetchKeySet(providerOf(sso))).filter(({ algorithms }) =>
      algorithms.some((algorithm) => sso.algorithms.includes(algorithm)),
    )
    if (usable.length > 0) findings.push(fine('sso', `the identity provider has ${usable.length} keys that count`))
    else findings.push(problem('sso', 'no key of the identity provider counts', 'compare its keys with sso.algorithms'))
  } catch (error) {
    const remedy = 'mend the way to it, sso.wellknown, sso.issuer or sso.ca_file'
    findings.push(problem('sso', `the identity provider: ${(error as Error).message}`, remedy))
  }
  return findings
}
