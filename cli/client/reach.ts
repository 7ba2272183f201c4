// Where a client command finds the service, and with what right it asks: options, environment, the site's own keys.
import { offline, type SiteFolder } from '../../daemon/boot/offline.ts'
import { type Client, client, type Target } from './client.ts'
import type { Endpoint } from './http-request.ts'

export type Reach = {
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
export function targetOf(reach: Reach): Target {
  const minted = new Map<string | undefined, Promise<string | undefined>>()
  return {
    endpoint: (role) => endpointOf(reach, role),
    token(role) {
      const meant = reach.url ? undefined : role
      const token = minted.get(meant) ?? tokenOf(reach, meant)
      minted.set(meant, token)
      return token
    },
  }
}

export function clientOf(reach: Reach): Client {
  return client(targetOf(reach))
}

function endpointOf({ folder, url }: Reach, role: string): Endpoint {
  if (url) return { url }
  if (!folder) throw new TypeError('neither a site nor a URL')
  return { socket: offline.socketOf(folder, role) }
}

async function tokenOf({ folder, token, env }: Reach, role: string | undefined): Promise<string | undefined> {
  if (token !== undefined) return token
  if (!folder) return undefined
  const tokens = await offline.tokens()
  const minted = await tokens.mintForOperator(folder, env, `cli:${offline.invoker()}`, Date.now(), role)
  return minted.token
}
