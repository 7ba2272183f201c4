// Exchanges a token at the identity provider for one that a downstream service accepts.
import { offline } from '../../../daemon/offline/offline.ts'
import { readToken } from '../../options/read-token.ts'
import { jsonOption, requireOwnSite, siteOption } from '../../options/site-options.ts'
import { command } from '../../program/command.ts'
import { required, text } from '../../program/params.ts'
import { printResult } from '../../terminal/output.ts'

export const definition = command({
  words: 'token exchange',
  summary: 'Exchange a token at the identity provider (RFC 8693)',
  notes: 'Reads the token to exchange from stdin or PLATFORM_TOKEN; prints the new one on stdout.',
  options: {
    audience: required(text('NAME', 'Audience of the new token, as the identity provider names it')),
    scope: text('SCOPE', 'Scope of the new token (default: chosen by the identity provider)'),
    ...siteOption,
    ...jsonOption,
  },
  example: 'platform token exchange --audience airflow < alice.token > airflow.token',
  async run(params, terminal) {
    const { audience, scope } = params
    const folder = requireOwnSite(params, terminal)
    const subject_token = await readToken(undefined, terminal)
    const { exchangeProviderToken } = await offline.providerTokens()
    const { access_token, expires_in } = await exchangeProviderToken(folder, terminal.env, {
      subject_token,
      audience,
      scope,
    })
    printResult(terminal, params.json, { token: access_token, audience, expires_in }, () => access_token)
    if (!params.json && expires_in !== undefined) terminal.note(`for ${audience}, valid for ${expires_in} s`)
    return 0
  },
})
