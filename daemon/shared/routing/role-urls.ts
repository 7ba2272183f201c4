// Roles of the site that other machines run, by the settings with their URLs; and whether the site has a role at all.
import { platformSettings } from '../../kernel/settings/platform-settings.ts'
import { roleCallSettings } from '../../kernel/settings/role-call-settings.ts'
import type { SettingsBlock, SettingValues } from '../../kernel/settings/settings.ts'
import { ingressSettings } from './ingress-settings.ts'

/** Of a call, or of resolved settings. */
type SettingsReader = <B extends SettingsBlock>(block: B) => SettingValues<B>

/** A URL with the setting that it comes from. */
export type RoleUrl = { readonly url: string; readonly setting: string }

/** The variables of the interface documents for services that are roles of a site. */
const documentedUrls = { intelligence: 'intelligence_url', resolution: 'entity_resolution_url' } as const

export function listRoleUrls(read: SettingsReader): ReadonlyMap<string, RoleUrl> {
  const ingress = read(ingressSettings)
  const documented = Object.entries(documentedUrls).flatMap(([role, field]): [string, RoleUrl][] => {
    const url = ingress[field]
    return url === undefined ? [] : [[role, { url, setting: `ingress.${field}` }]]
  })
  const general = Object.entries(read(roleCallSettings).urls).map(([role, url]): [string, RoleUrl] => {
    return [role, { url, setting: `role_calls.urls.${role}` }]
  })
  return new Map([...documented, ...general])
}

/** The roles of the profile, and those that it places on other machines. */
export function listSiteRoles(read: SettingsReader): ReadonlySet<string> {
  return new Set([...read(platformSettings).roles, ...listRoleUrls(read).keys()])
}

/** Whether some machine runs the role, by the profile: it may be down. */
export function hasSiteRole(call: { readonly settings: SettingsReader }, role: string): boolean {
  return listSiteRoles((block) => call.settings(block)).has(role)
}
