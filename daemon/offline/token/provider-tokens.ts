// Exchanges tokens at the site's identity provider for a downstream service, for commands.
import {
  exchangeToken,
  type TokenExchangeRequest,
  type TokenExchangeResult,
} from '../../../adapters/identity/oidc/exchange-token.ts'
import { readSsoProvider } from '../../boot/identity/sso-provider.ts'
import type { SiteFolder } from '../../boot/storage/site-folder.ts'
import { isRefusal } from '../../kernel/error/errors.ts'
import { getSettings } from '../../kernel/settings/get-settings.ts'
import { ssoSettings } from '../../kernel/settings/sso-settings.ts'
import { recordOperatorAction } from '../audit/operator-action.ts'
import { OfflineCommandError } from '../offline-command-error.ts'
import { type EnvironmentVariables, readSiteSettings } from '../site/site-profile.ts'

/** Authenticates as the client that the profile names. Throws `Refusal` if the provider refuses or is unreachable. */
export async function exchangeProviderToken(
  folder: SiteFolder,
  env: EnvironmentVariables,
  request: TokenExchangeRequest,
): Promise<TokenExchangeResult> {
  const { resolved, identity } = readSiteSettings(folder, env)
  const sso = getSettings(resolved, ssoSettings)
  const { client_id, client_secret, token_url } = sso
  if (identity.provider !== 'oidc') {
    throw new OfflineCommandError(
      3,
      'the site has no identity provider',
      '`platform profile explain identity.provider`',
    )
  }
  if (client_id === undefined || client_secret === undefined) {
    throw new OfflineCommandError(
      3,
      'sso.client_id or its secret is not set',
      '`platform profile explain sso.client_secret`',
    )
  }
  const exchanged = await exchangeToken({ ...readSsoProvider(sso), token_url }, { client_id, client_secret }, request)
  if (isRefusal(exchanged)) throw exchanged
  const detail = { audience: request.audience, client_id }
  await recordOperatorAction(folder, env, { action: 'site.token.exchange', target: request.audience, detail })
  return exchanged
}
