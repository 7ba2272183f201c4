// What of its surroundings forbids the proxy role to start: names that lead inside, files that cannot be read.
import { addressRule } from '../../../adapters/forward/http/address-rule.ts'
import {
  AddressDenied,
  checkOrigin,
  originOf,
  type Resolve,
  resolveByHost,
} from '../../../adapters/forward/http/dial.ts'
import type { Resolved } from '../../kernel/settings.ts'
import { ssoSettings } from '../../kernel/sso-settings.ts'
import { settings } from '../../roles/proxy/settings.ts'
import { type ProfileProblem, valuesOf } from '../profile.ts'
import { unreadable } from '../unreadable.ts'

const trust = 'name its network in proxy.trusted_networks of the profile, if the site trusts it'

/**
 * Of settings that `startFaults` finds nothing wrong with. A name that nobody knows now is no problem: it is looked up for
 * each connection, and until then there is no answer. `resolve`: all addresses of a name.
 */
export async function proxyProblems(resolved: Resolved, resolve: Resolve = resolveByHost): Promise<ProfileProblem[]> {
  const proxy = valuesOf(resolved, settings)
  const { token_url, ca_file, tls_verify } = valuesOf(resolved, ssoSettings)
  const places: [path: string, name: string, url: string | undefined][] = [
    ['proxy.platform_api_url', 'PLATFORM_API_URL', proxy.platform_api_url],
    ['sso.token_url', 'SSO_TOKEN_URL', token_url],
  ]
  const addresses = await Promise.all(
    places.map(([path, name, url]) => addressProblem(path, name, url, proxy, resolve)),
  )
  return [
    ...addresses.flat(),
    ...unreadable('proxy.platform_api_ca_file', proxy.platform_api_ca_file),
    ...unreadable('sso.ca_file', ca_file),
    ...(tls_verify ? [] : [{ path: 'sso.tls_verify', message: unverified }]),
    ...(proxy.tls_client_auth === 'none' ? [] : [{ path: 'proxy.tls_client_auth', message: anonymous }]),
  ]
}

const unverified =
  'SSO_TLS_VERIFY must be true: the client’s secret goes to a verified provider alone; name its authority in SSO_CA_FILE'
const anonymous = 'must be none: whoever comes to the public door has no certificate'

async function addressProblem(
  path: string,
  name: string,
  text: string | undefined,
  { trusted_networks }: { readonly trusted_networks: readonly string[] },
  resolve: Resolve,
): Promise<ProfileProblem[]> {
  const origin = text === undefined ? undefined : originOf(new URL(text))
  if (!origin) return []
  try {
    const fault = await checkOrigin(origin, addressRule(trusted_networks), resolve)
    return fault instanceof AddressDenied ? [{ path, message: `${name} leads inside: ${fault.message}; ${trust}` }] : []
  } catch (error) {
    return [{ path: 'proxy.trusted_networks', message: (error as Error).message }]
  }
}
