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
    const detail = 'sso.audience is account, which tokens for other services may contain too'
    findings.push(
      reportWarning(
        'sso.shared_audience',
        detail,
        'configure a separate audience for the site at the identity provider',
      ),
    )
  }
  if (Object.keys(sso.role_map).length === 0) {
    const detail = 'sso.role_map is empty: users of the identity provider have no permissions'
    findings.push(reportWarning('sso.no_role_map', detail, 'map its roles to roles of the site in sso.role_map'))
  }
  try {
    const usableKeys = parseProviderKeys(await fetchKeySet(readSsoProvider(sso))).filter(({ algorithms }) =>
      algorithms.some((algorithm) => sso.algorithms.includes(algorithm)),
    )
    if (usableKeys.length > 0)
      findings.push(reportOk('sso', `the identity provider has ${usableKeys.length} usable keys`))
    else
      findings.push(
        reportProblem(
          'sso.no_usable_key',
          'the identity provider has no usable key',
          'compare its keys with sso.algorithms',
        ),
      )
  } catch (error) {
    const remedy = 'check the network, sso.wellknown, sso.issuer and sso.ca_file'
    findings.push(reportProblem('sso.unreachable', `the identity provider: ${(error as Error).message}`, remedy))
  }
  return findings
}
