// Tokens of the site's identity provider, for commands: exchanged there for a service downstream.
import { type Exchanged, type ExchangeRequest, exchangeAtProvider } from '../../../adapters/identity/oidc/exchange.ts'
import { isRefused } from '../../kernel/errors.ts'
import { ssoSettings } from '../../kernel/sso-settings.ts'
import { valuesOf } from '../profile.ts'
import type { SiteFolder } from '../site-folder.ts'
import { providerOf } from '../sso.ts'
import { record } from './deed.ts'
import { Objection } from './objection.ts'
import { type Environment, siteSettings } from './site-profile.ts'

/** As the client that the profile names. Throws `Refused` when the provider will not, or cannot be asked. */
export async function exchange(folder: SiteFolder, env: Environment, request: ExchangeRequest): Promise<Exchanged> {
  const { resolved, identity } = siteSettings(folder, env)
  const sso = valuesOf(resolved, ssoSettings)
  const { client_id, client_secret, token_url } = sso
  if (identity.provider !== 'oidc') {
    throw new Objection(3, 'the site has no identity provider', '`platform profile explain identity.provider`')
  }
  if (client_id === undefined || client_secret === undefined) {
    throw new Objection(3, 'sso.client_id or its secret is not set', '`platform profile explain sso.client_secret`')
  }
  const exchanged = await exchangeAtProvider({ ...providerOf(sso), token_url }, { client_id, client_secret }, request)
  if (isRefused(exchanged)) throw exchanged
  const detail = { audience: request.audience, client_id }
  await record(folder, env, { action: 'site.token.exchange', target: request.audience, detail })
  return exchanged
}
