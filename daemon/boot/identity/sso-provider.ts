// Connects the identity provider of the profile: fetches its keys, verifies its tokens, and maps their claims.
import { readFileSync } from 'node:fs'
import type { OidcProvider } from '../../../adapters/identity/oidc/discovery.ts'
import { exchangeToken } from '../../../adapters/identity/oidc/exchange-token.ts'
import { oidcVerifier } from '../../../adapters/identity/oidc/verifier.ts'
import { parseProviderKeys } from '../../../adapters/keys/jose/provider-keys.ts'
import { readIssuer, verifyProviderToken } from '../../../adapters/keys/jose/provider-tokens.ts'
import { isRefusal } from '../../kernel/error/errors.ts'
import type { SettingValues } from '../../kernel/settings/settings.ts'
import type { ssoSettings } from '../../kernel/settings/sso-settings.ts'
import type { Log } from '../../kernel/telemetry/log.ts'
import type { ProviderExchange } from './delegations.ts'
import type { ForeignTokenVerifier } from './offline-identity.ts'

export type SsoOptions = {
  readonly sso: SettingValues<typeof ssoSettings>
  readonly skew_s: number
  readonly log: Log
  /** Epoch milliseconds. */
  readonly now: () => number
  /** Milliseconds of a clock that never jumps. */
  readonly monotonic: () => number
}

/** Throws if `sso.ca_file` cannot be read. Sends no request to the provider before its first token arrives. */
export function ssoTokenVerifier({ sso, skew_s, log, now, monotonic }: SsoOptions): ForeignTokenVerifier {
  const provider = readSsoProvider(sso)
  const { issuer } = provider
  const { audience, algorithms, authorized_parties: clients } = sso
  const verifier = oidcVerifier({
    provider,
    mapping: sso,
    parseKeys: parseProviderKeys,
    verifyToken: (token, keyOf) =>
      verifyProviderToken(token, keyOf, { issuer, audience, algorithms, clients, now: now(), skew_s }),
    refresh_ms: sso.keys_refresh_s * 1_000,
    max_age_ms: sso.keys_max_age_s * 1_000,
    min_interval_ms: sso.refetch_min_s * 1_000,
    monotonic,
    onFetched(result) {
      if ('failed' in result) log.warn('identity.sso.failed', { reason: result.failed })
      else log.debug('identity.sso.fetched', { keys: result.keys.map(({ kid }) => kid) })
    },
  })
  return {
    ...verifier,
    issuer,
    roles: Object.values(sso.role_map).flat(),
    exchange: openExchange(sso, now),
    isNamedIn: (token) => readIssuer(token) === issuer,
  }
}

/** Assumed life of a token whose response names none, in seconds. */
const default_life_s = 60

/** Undefined if the profile names no client. */
function openExchange(sso: SsoOptions['sso'], now: () => number): ProviderExchange | undefined {
  const { client_id, client_secret, token_url } = sso
  if (client_id === undefined || client_secret === undefined) return undefined
  const provider = { ...readSsoProvider(sso), token_url }
  return async (subject_token, audience) => {
    const began = now()
    const exchanged = await exchangeToken(provider, { client_id, client_secret }, { subject_token, audience })
    if (isRefusal(exchanged)) return exchanged
    return {
      token: exchanged.access_token,
      expires_ts: began + Math.floor(exchanged.expires_in ?? default_life_s) * 1_000,
    }
  }
}

/** Throws if `sso.ca_file` cannot be read, or no issuer is set. */
export function readSsoProvider({ issuer, wellknown, ca_file, tls_verify }: SsoOptions['sso']): OidcProvider {
  if (issuer === undefined) throw new Error('sso.issuer is not set')
  const ca = ca_file === undefined ? undefined : readFileSync(ca_file, 'utf8')
  return { issuer, wellknown, ca, isVerified: tls_verify }
}
