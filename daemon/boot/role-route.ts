// Decides how another role of the site is reached: in this process, at its URL on another machine, or at its local socket.
import type { RoleContext } from '../kernel/operation/role-context.ts'
import type { RoleUrl } from '../shared/routing/role-urls.ts'

export type RoleRoute =
  | { readonly via: 'process'; readonly context: RoleContext }
  | { readonly via: 'url'; readonly url: string }
  | { readonly via: 'socket' }

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
