// Resolves the endpoint and the token of a client command from options, environment and the site's own keys.
import { offline, type SiteFolder } from '../../daemon/offline/offline.ts'
import { createServiceClient, type ServiceClient, type ServiceTarget } from './client.ts'
import type { ServiceEndpoint } from './http-request.ts'

export type ServiceConnectionOptions = {
  /** The folder of a site on this machine; undefined when only a URL is known. */
  readonly folder: SiteFolder | undefined
  /** Root of a role's listener; replaces the local sockets. */
  readonly url: URL | undefined
  /** Authorities of the URL in PEM instead of Node's. */
  readonly ca?: string | undefined
  readonly token: string | undefined
  readonly env: Readonly<Record<string, string | undefined>>
}

/**
 * Endpoint and tokens of a service. Mints a token for five minutes if none was passed: a user who can read the site's keys
 * may do anything there already. A role may run as another user, so a token is valid for one role only. The role behind a
 * URL is unknown, so the token for a URL has no such limit.
 */
export function resolveServiceTarget(connection: ServiceConnectionOptions): ServiceTarget {
  const minted = new Map<string | undefined, Promise<string | undefined>>()
  return {
    endpoint: (role) => resolveEndpoint(connection, role),
    token(role) {
      const audience = connection.url ? undefined : role
      const token = minted.get(audience) ?? resolveToken(connection, audience)
      minted.set(audience, token)
      return token
    },
  }
}

export function connectServiceClient(connection: ServiceConnectionOptions): ServiceClient {
  return createServiceClient(resolveServiceTarget(connection))
}

function resolveEndpoint({ folder, url, ca }: ServiceConnectionOptions, role: string): ServiceEndpoint {
  if (url) return { url, ca }
  if (!folder) throw new TypeError('a service connection needs a site folder or a URL')
  return { socket: offline.socketOf(folder, role) }
}

async function resolveToken(
  { folder, token, env }: ServiceConnectionOptions,
  role: string | undefined,
): Promise<string | undefined> {
  if (token !== undefined) return token
  if (!folder) return undefined
  const tokens = await offline.tokens()
  const minted = await tokens.mintOperatorToken(folder, env, `cli:${offline.invoker()}`, Date.now(), role)
  return minted.token
}
