// Mints a token with the site's own issuer, without a network.
import { offline } from '../../../daemon/offline/offline.ts'
import { jsonOption, requireOwnSite, siteOption } from '../../options/site-options.ts'
import { CommandFailure, command } from '../../program/command.ts'
import { duration, nameList, required, text, withDefault } from '../../program/params.ts'
import { printResult } from '../../terminal/output.ts'

export const definition = command({
  words: 'token mint',
  summary: 'Mint a token with the site’s own key',
  notes: 'Prints the token on stdout: keep it out of logs and argument lists; pass it to commands as PLATFORM_TOKEN.',
  options: {
    subject: required(text('SUBJECT', 'Subject of the token')),
    tenant: text('TENANT', 'Tenant of the token (default: the site’s tenant)'),
    roles: required(nameList('A,B', 'Roles: analyst, operator, auditor, admin, or those of the profile')),
    clearance: text('LEVEL', 'Highest level that the token may see (default: the lowest)'),
    categories: nameList('A,B', 'Categories that the token holds (default: none)'),
    nationality: text('NAME', 'Nationality, for data that is releasable to it (default: none)'),
    ttl: withDefault(3_600, duration('TIME', 'Lifetime of the token')),
    ...siteOption,
    ...jsonOption,
  },
  example: 'PLATFORM_TOKEN=$(platform token mint --subject alice --roles analyst --clearance SECRET --ttl 8h)',
  async run(params, terminal) {
    const { subject, roles, clearance: level, categories, nationality, ttl } = params
    if (level === undefined && (categories.length > 0 || nationality)) {
      throw new CommandFailure(2, '--categories and --nationality need --clearance')
    }
    const folder = requireOwnSite(params, terminal)
    const [tokens, profile] = await Promise.all([offline.tokens(), offline.profile()])
    const tenant_id = params.tenant ?? profile.readSiteSettings(folder, terminal.env).platform.tenant_id
    const unknownRoles = profile.findUnknownRoles(folder, terminal.env, roles)
    if (unknownRoles.length)
      throw new CommandFailure(
        2,
        `the profile has no role ${unknownRoles.join(', ')}`,
        '`platform profile explain identity.roles` lists them',
      )
    const claims = {
      sub: subject,
      tenant_id,
      roles: [...roles],
      ...(level ? { clearance: { level, categories: [...categories], ...(nationality ? { nationality } : {}) } } : {}),
    }
    const minted = await tokens.mintRecordedToken(folder, terminal.env, claims, ttl, Date.now())
    const expires = new Date(minted.exp * 1000).toISOString()
    printResult(terminal, params.json, { ...minted, ...claims, expires }, () => minted.token)
    if (!params.json) terminal.note(`${minted.jti}, valid until ${expires}`)
    return 0
  },
})
