// Why the proxy must not start: each of the interface's fatal conditions, with the setting and what to do about it.
import type { IpNetwork } from '../../kernel/ip-address.ts'
import { trustedNetwork } from '../../kernel/special-addresses.ts'
import type { ProxySettings } from './config.ts'
import { addressFault, urlFault } from './upstream.ts'

/** What of the sso block the proxy goes by. */
export type SsoPart = { readonly token_url?: string | undefined; readonly client_id?: string | undefined }

/**
 * Everything that is wrong at once; empty when the role may start. What the settings' own schema refuses (a rule of the
 * allowlist, a depth of 0, a URL's form) never comes this far.
 */
export function startFaults(proxy: ProxySettings, sso: SsoPart): string[] {
  const trusted = networksOf(proxy)
  return [
    ...edgeFault(proxy),
    ...depthFault(proxy),
    ...urlFaults('PLATFORM_API_URL (proxy.platform_api_url)', proxy.platform_api_url, trusted),
    ...urlFaults('SSO_TOKEN_URL (sso.token_url)', sso.token_url, trusted),
    ...clientFaults(proxy, sso),
  ]
}

/** proxy.trusted_networks, parsed. */
export function networksOf({ trusted_networks }: ProxySettings): IpNetwork[] {
  return trusted_networks.flatMap((text) => trustedNetwork(text) ?? [])
}

function edgeFault({ edge_node }: ProxySettings): string[] {
  return edge_node
    ? ['EDGE_NODE (proxy.edge_node) is true, which would leave requests unlimited: unset it, or run no proxy here']
    : []
}

function depthFault({ trusted_proxy_depth }: ProxySettings): string[] {
  if (trusted_proxy_depth !== undefined) return []
  return [
    'TRUSTED_PROXY_DEPTH (proxy.trusted_proxy_depth) is not set: give the number of trusted hops that append to X-Forwarded-For, 1 or more',
  ]
}

function urlFaults(name: string, url: string | undefined, trusted: readonly IpNetwork[]): string[] {
  if (url === undefined) return [`${name} is not set: give its http or https URL`]
  const fault = urlFault(url) ?? addressFault(url, trusted)
  return fault ? [`${name} ${fault}`] : []
}

/** Without a client the role starts and answers 503; with the platform's own it would hand out the platform's rights. */
function clientFaults({ public_sso_client_id }: ProxySettings, { client_id }: SsoPart): string[] {
  if (public_sso_client_id === undefined || public_sso_client_id !== client_id) return []
  return [
    'PUBLIC_SSO_CLIENT_ID (proxy.public_sso_client_id) is the platform’s own client (SSO_CLIENT_ID): make a limited one for the proxy',
  ]
}
