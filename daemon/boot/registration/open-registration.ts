// Opens the registration of a role with the gateway, for a role whose profile names its URL.
import { readFileSync } from 'node:fs'
import { tokenEndpoint } from '../../../adapters/identity/client-credentials/token-endpoint.ts'
import { TokenSource } from '../../../adapters/identity/client-credentials/token-source.ts'
import { discoverProvider } from '../../../adapters/identity/oidc/discovery.ts'
import { isAllowedProviderUrl, isLoopbackUrl } from '../../../adapters/identity/oidc/url-rules.ts'
import { anyAddress } from '../../../adapters/platform/address-rule/address-rule.ts'
import { gatewayRegistrar } from '../../../adapters/registration/http/gateway-registrar.ts'
import type { Role, RoleDeployment } from '../../kernel/role/role.ts'
import { gatewayClientSettings, registrationValues } from '../../kernel/settings/gateway-settings.ts'
import { getSettings } from '../../kernel/settings/get-settings.ts'
import type { ResolvedSettings, SettingValues } from '../../kernel/settings/settings.ts'
import { ssoSettings } from '../../kernel/settings/sso-settings.ts'
import type { ServiceRegistrar } from '../../shared/service-registration/service-registration.ts'
import { GatewayRegistration, type ServiceToken } from './gateway-registration.ts'

/** Undefined for a role that does not register. Reads no file and sends nothing yet: a role starts without either. */
export function openGatewayRegistration(
  role: Role,
  deployment: RoleDeployment,
  monotonic: () => number,
): GatewayRegistration | undefined {
  const own = registrationValues.safeParse(deployment.settings.values.get(role.name)).data
  if (!own) return undefined
  const { url, ttl_s, ca_file, deregisters } = getSettings(deployment.settings, gatewayClientSettings)
  const name = String(role.serviceInfo(deployment).name)
  return new GatewayRegistration({
    registration: { name, url: own.public_url, ttl_seconds: ttl_s, component_kind: own.component_kind },
    registrar: openWhenUsed(() => gatewayRegistrar({ url, rule: anyAddress, ca: readOptionalFile(ca_file) })),
    findToken: serviceTokens(deployment.settings, monotonic),
    deregisters,
  })
}

/** A file of authorities that cannot be read fails the registration, until it can. */
function openWhenUsed(open: () => ServiceRegistrar): ServiceRegistrar {
  let opened: ServiceRegistrar | undefined
  const use = async (action: (registrar: ServiceRegistrar) => ReturnType<ServiceRegistrar['register']>) => {
    try {
      opened ??= open()
    } catch (error) {
      return { failed: 'unreachable', reason: (error as Error).message } as const
    }
    return await action(opened)
  }
  return {
    register: (registration, token, signal) => use((registrar) => registrar.register(registration, token, signal)),
    deregister: (name, token, signal) => use((registrar) => registrar.deregister(name, token, signal)),
  }
}

/** Tokens of the client of the site by the client-credentials grant: for registrations, and for nothing else. */
function serviceTokens(resolved: ResolvedSettings, monotonic: () => number): () => Promise<ServiceToken> {
  const sso = getSettings(resolved, ssoSettings)
  let fault = 'none was given'
  let source: TokenSource | undefined
  const open = () => {
    const { client_id, client_secret, ca_file, tls_verify, token_url = '' } = sso
    if (client_id === undefined || client_secret === undefined)
      throw new Error('sso.client_id and sso.client_secret are not both set')
    const isVerified = tls_verify || !isLoopbackUrl(token_url)
    const provider = { ca: readOptionalFile(ca_file), isVerified }
    return new TokenSource({
      client: { client_id, client_secret },
      post: tokenEndpoint({ findUrl: () => findTokenUrl(sso, provider), rule: anyAddress, ...provider }),
      monotonic,
      onFault(outcome, fields) {
        fault = describeFault(outcome, fields)
      },
      onOutcome: () => undefined,
    })
  }
  return async () => {
    try {
      source ??= open()
      const token = await source.token()
      return token === undefined ? { none: fault } : { token }
    } catch (error) {
      return { none: (error as Error).message }
    }
  }
}

function describeFault(outcome: string, { status, error }: Readonly<Record<string, unknown>>): string {
  return `the token endpoint ${outcome === 'refused' ? `answered ${status}` : `cannot be reached: ${error}`}`
}

/** That of the settings, or of the discovery document of the identity provider. */
async function findTokenUrl(
  { token_url, issuer, wellknown }: SettingValues<typeof ssoSettings>,
  tls: { readonly ca: string | undefined; readonly isVerified: boolean },
): Promise<string> {
  const found = token_url ?? (issuer && (await discoverProvider({ ...tls, issuer, wellknown })).token_endpoint)
  if (!found) throw new Error('sso.token_url is not set')
  if (!isAllowedProviderUrl(found)) throw new Error('its URL must be https, or http on this machine')
  return found
}

function readOptionalFile(file: string | undefined): string | undefined {
  return file === undefined ? undefined : readFileSync(file, 'utf8')
}
