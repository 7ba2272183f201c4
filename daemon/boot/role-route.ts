// Decides how another role of the site is reached: in this process, at its URL on another machine, or at its local socket.
import type { RoleContext } from '../kernel/operation/role-context.ts'
import { getSettings } from '../kernel/settings/get-settings.ts'
import { roleCallSettings } from '../kernel/settings/role-call-settings.ts'
import type { ResolvedSettings } from '../kernel/settings/settings.ts'
import { ingressSettings } from '../shared/routing/ingress-settings.ts'

export type RoleRoute =
  | { readonly via: 'process'; readonly context: RoleContext }
  | { readonly via: 'url'; readonly url: string }
  | { readonly via: 'socket' }

/** A URL with the setting that it comes from. */
export type RoleUrl = { readonly url: string; readonly setting: string }

export type RolePlaces = {
  /** Contexts of the roles that run in this process. */
  readonly contexts: ReadonlyMap<string, RoleContext>
  /** Of roles that other machines run. */
  readonly urls: ReadonlyMap<string, RoleUrl>
}

/** The one rule for requests, for health and for the question whether the site runs a role. */
export function findRoleRoute({ contexts, urls }: RolePlaces, role: string): RoleRoute {
  const context = contexts.get(role)
  if (context) return { via: 'process', context }
  const found = urls.get(role)
  return found ? { via: 'url', url: found.url } : { via: 'socket' }
}

/** The variables of the interface documents for services that are roles of a site. */
const documentedUrls = { intelligence: 'intelligence_url', resolution: 'entity_resolution_url' } as const

export function listRoleUrls(resolved: ResolvedSettings): ReadonlyMap<string, RoleUrl> {
  const ingress = getSettings(resolved, ingressSettings)
  const documented = Object.entries(documentedUrls).flatMap(([role, field]): [string, RoleUrl][] => {
    const url = ingress[field]
    return url === undefined ? [] : [[role, { url, setting: `ingress.${field}` }]]
  })
  const general = Object.entries(getSettings(resolved, roleCallSettings).urls).map(([role, url]): [string, RoleUrl] => {
    return [role, { url, setting: `role_calls.urls.${role}` }]
  })
  return new Map([...documented, ...general])
}
