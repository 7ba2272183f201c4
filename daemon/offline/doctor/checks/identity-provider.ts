// Checks that the identity provider is reachable, is the one of the profile, and has keys that verify its tokens.
import { fetchKeySet } from '../../../../adapters/identity/oidc/discovery.ts'
import { parseProviderKeys } from '../../../../adapters/keys/jose/provider-keys.ts'
import { readSsoProvider } from '../../../boot/identity/sso-provider.ts'
import { getSettings } from '../../../kernel/settings/get-settings.ts'
import { ssoSettings } from '../../../kernel/settings/sso-settings.ts'
import { readSiteSettings } from '../../site/site-profile.ts'
import type { DoctorContext } from '../examine-site.ts'
import { type DoctorFinding, reportOk, reportProblem, reportWarning } from '../finding.ts'

export async function checkIdentityProvider({ folder, env }: DoctorContext): Promise<DoctorFinding[]> {
  const { resolved, identity } = readSiteSettings(folder, env)
  if (identity.provider !== 'oidc') return []
  const sso = getSettings(resolved, ssoSettings)
  const findings: DoctorFinding[] = []
  if (sso.audience === 'account') {
    const detail = 'sso.audience is account, which tokens for other services may name as well'
    findings.push(reportWarning('sso', detail, 'give the site an audience of its own at the identity provider'))
  }
  if (Object.keys(sso.role_map).length === 0) {
    const detail = 'sso.role_map is empty: nobody of the identity provider may do anything'
    findings.push(reportWarning('sso', detail, 'name its roles in sso.role_map, each with roles of the site'))
  }
  try {
    const usable = parseProviderKeys(await fetchKeySet(readSsoProvider(sso))).filter(({ algorithms }) =>
      algorithms.some((algorithm) => sso.algorithms.includes(algorithm)),
    )
    if (usable.length > 0) findings.push(reportOk('sso', `the identity provider has ${usable.length} keys that count`))
    else
      findings.push(
        reportProblem('sso', 'no key of the identity provider counts', 'compare its keys with sso.algorithms'),
      )
  } catch (error) {
    const remedy = 'mend the way to it, sso.wellknown, sso.issuer or sso.ca_file'
    findings.push(reportProblem('sso', `the identity provider: ${(error as Error).message}`, remedy))
  }
  return findings
}
