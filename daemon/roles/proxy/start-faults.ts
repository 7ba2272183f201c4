// Conditions under which the proxy must not start, each with its setting and the remedy.
import type { IpNetwork } from '../../kernel/network/ip-address.ts'
import { parseTrustedNetwork } from '../../kernel/network/special-addresses.ts'
import type { ProxySettings } from './config.ts'
import { findAddressFault, findUrlFault } from './platform-origin.ts'

/** Settings of the sso block that the proxy uses. */
export type ProxySsoSettings = { readonly token_url?: string | undefined; readonly client_id?: string | undefined }

/**
 * All faults at once; empty when the role may start. Faults that the settings' schema refuses (a rule of the
 * allowlist, a depth of 0, the form of a URL) never reach this check.
 */
export function findStartFaults(proxy: ProxySettings, sso: ProxySsoSettings): string[] {
  const trusted = parseTrustedNetworks(proxy)
  return [
    ...findEdgeFaults(proxy),
    ...findDepthFaults(proxy),
    ...findUrlFaults('PLATFORM_API_URL (proxy.platform_api_url)', proxy.platform_api_url, trusted),
    ...findUrlFaults('SSO_TOKEN_URL (sso.token_url)', sso.token_url, trusted),
    ...findClientFaults(proxy, sso),
  ]
}

/** Parses proxy.trusted_networks. */
function parseTrustedNetworks({ trusted_networks }: ProxySettings): IpNetwork[] {
  return trusted_networks.flatMap((text) => parseTrustedNetwork(text) ?? [])
}

function findEdgeFaults({ edge_node }: ProxySettings): string[] {
  return edge_node
    ? ['EDGE_NODE (proxy.edge_node) is true, which would leave requests unlimited: unset it, or run no proxy here']
    : []
}

function findDepthFaults({ trusted_proxy_depth }: ProxySettings): string[] {
  if (trusted_proxy_depth !== undefined) return []
  return [
    'TRUSTED_PROXY_DEPTH (proxy.trusted_proxy_depth) is not set: set the number of trusted hops that append to X-Forwarded-For, 1 or more',
  ]
}

function findUrlFaults(name: string, url: string | undefined, trusted: readonly IpNetwork[]): string[] {
  if (url === undefined) return [`${name} is not set: set its http or https URL`]
  const fault = findUrlFault(url) ?? findAddressFault(url, trusted)
  return fault ? [`${name} ${fault}`] : []
}

/**
 * Faults of the client. Without one the role starts and answers 503; with the platform's own it would grant the
 * platform's rights.
 */
function findClientFaults({ public_sso_client_id }: ProxySettings, { client_id }: ProxySsoSettings): string[] {
  if (public_sso_client_id === undefined || public_sso_client_id !== client_id) return []
  return [
    'PUBLIC_SSO_CLIENT_ID (proxy.public_sso_client_id) is the platform’s own client (SSO_CLIENT_ID): create a limited client for the proxy',
  ]
}
