// Exchanges a token at the identity provider for one that a service downstream takes.
import { offline } from '../../../daemon/offline/offline.ts'
import { readToken } from '../../options/read-token.ts'
import { jsonOption, requireSite, siteOption } from '../../options/site-options.ts'
import { command } from '../../program/command.ts'
import { required, text } from '../../program/params.ts'
import { printResult } from '../../terminal/output.ts'

export const definition = command({
  words: 'token exchange',
  summary: 'exchange a token at the identity provider for another service’s (RFC 8693)',
  notes: 'The token to exchange is read from stdin or PLATFORM_TOKEN; the new one is printed on stdout.',
  options: {
    audience: required(text('NAME', 'who the new token is for, as the identity provider names it')),
    scope: text('SCOPE', 'what it is to allow; else what the identity provider gives'),
    ...siteOption,
    ...jsonOption,
  },
  example: 'platform token exchange --audience airflow < alice.token > airflow.token',
  async run(given, terminal) {
    const { audience, scope } = given
    const folder = requireSite(given, terminal)
    const subject_token = await readToken(undefined, terminal)
    const { exchangeProviderToken } = await offline.providerTokens()
    const { access_token, expires_in } = await exchangeProviderToken(folder, terminal.env, {
      subject_token,
      audience,
      scope,
    })
    printResult(terminal, given.json, { token: access_token, audience, expires_in }, () => access_token)
    if (!given.json && expires_in !== undefined) terminal.note(`for ${audience}, valid for ${expires_in} s`)
    return 0
  },
})
