// Start checks of the proxy role: names that resolve to internal addresses, files that cannot be read.
import { parseUpstreamOrigin } from '../../../adapters/forward/http/dial.ts'
import { addressRule } from '../../../adapters/platform/address-rule/address-rule.ts'
import {
  AddressDeniedError,
  type AddressResolver,
  checkHost,
  systemResolver,
} from '../../../adapters/platform/address-rule/checked-lookup.ts'
import { findUnreadableFile } from '../../boot/host/unreadable-file.ts'
import { getSettings } from '../../kernel/settings/get-settings.ts'
import type { ProfileProblem } from '../../kernel/settings/profile-error.ts'
import type { ResolvedSettings } from '../../kernel/settings/settings.ts'
import { ssoSettings } from '../../kernel/settings/sso-settings.ts'
import { settings } from '../../roles/proxy/settings.ts'

const trust_remedy = 'name its network in proxy.trusted_networks of the profile, if the site trusts it'

/**
 * Requires settings that `findStartFaults` accepts. A name that does not resolve now is not a problem, since each connection
 * resolves it again. `resolve`: all addresses of a name.
 */
export async function findProxyStartProblems(
  resolved: ResolvedSettings,
  resolve: AddressResolver = systemResolver,
): Promise<ProfileProblem[]> {
  const proxy = getSettings(resolved, settings)
  const { token_url, ca_file, tls_verify } = getSettings(resolved, ssoSettings)
  const urls: [path: string, name: string, url: string | undefined][] = [
    ['proxy.platform_api_url', 'PLATFORM_API_URL', proxy.platform_api_url],
    ['sso.token_url', 'SSO_TOKEN_URL', token_url],
  ]
  const addresses = await Promise.all(
    urls.map(([path, name, url]) => findAddressProblem(path, name, url, proxy, resolve)),
  )
  return [
    ...addresses.flat(),
    ...findUnreadableFile('proxy.platform_api_ca_file', proxy.platform_api_ca_file),
    ...findUnreadableFile('sso.ca_file', ca_file),
    ...(tls_verify ? [] : [{ path: 'sso.tls_verify', message: unverified_message }]),
    ...(proxy.tls_client_auth === 'none' ? [] : [{ path: 'proxy.tls_client_auth', message: client_auth_message }]),
  ]
}

const unverified_message =
  'SSO_TLS_VERIFY must be true: the client’s secret goes to a verified provider alone; name its authority in SSO_CA_FILE'
const client_auth_message = 'must be none: callers of the public listener have no certificate'

async function findAddressProblem(
  path: string,
  name: string,
  text: string | undefined,
  { trusted_networks }: { readonly trusted_networks: readonly string[] },
  resolve: AddressResolver,
): Promise<ProfileProblem[]> {
  const origin = text === undefined ? undefined : parseUpstreamOrigin(new URL(text))
  if (!origin) return []
  try {
    const fault = await checkHost(origin.host, addressRule(trusted_networks), resolve)
    return fault instanceof AddressDeniedError
      ? [{ path, message: `${name} leads inside: ${fault.message}; ${trust_remedy}` }]
      : []
  } catch (error) {
    return [{ path: 'proxy.trusted_networks', message: (error as Error).message }]
  }
}
