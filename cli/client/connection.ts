// Where a client command finds the service, and with what right it asks: options, environment, the site's own keys.
import { offline, type SiteFolder } from '../../daemon/offline/offline.ts'
import { createServiceClient, type ServiceClient, type ServiceTarget } from './client.ts'
import type { ServiceEndpoint } from './http-request.ts'

export type ServiceConnectionOptions = {
  /** The folder of a site on this machine; undefined when only a URL is known. */
  readonly folder: SiteFolder | undefined
  /** Root of a role's listener; asked instead of the local sockets. */
  readonly url: URL | undefined
  readonly token: string | undefined
  readonly env: Readonly<Record<string, string | undefined>>
}

/**
 * Without a token, one is minted for five minutes: who may read the site's keys may do anything there already. The role
 * that is asked may be another user's, so its token is worth nothing at the others; who listens at a URL is not known.
 */
export function resolveServiceTarget(reach: ServiceConnectionOptions): ServiceTarget {
  const minted = new Map<string | undefined, Promise<string | undefined>>()
  return {
    endpoint: (role) => resolveEndpoint(reach, role),
    token(role) {
      const meant = reach.url ? undefined : role
      const token = minted.get(meant) ?? resolveToken(reach, meant)
      minted.set(meant, token)
      return token
    },
  }
}

export function connectServiceClient(reach: ServiceConnectionOptions): ServiceClient {
  return createServiceClient(resolveServiceTarget(reach))
}

function resolveEndpoint({ folder, url }: ServiceConnectionOptions, role: string): ServiceEndpoint {
  if (url) return { url }
  if (!folder) throw new TypeError('neither a site nor a URL')
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
