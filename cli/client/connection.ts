// Resolves the endpoint and the token of a client command from options, environment and the site's own keys.
import { offline, type SiteFolder } from '../../daemon/offline/offline.ts'
import { createServiceClient, type ServiceClient, type ServiceTarget } from './client.ts'
import type { ServiceEndpoint } from './http-request.ts'
import { type ExpiringToken, mintedTokens } from './minted-tokens.ts'
import { explainMissingRole } from './missing-role.ts'

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
 * Endpoint and tokens of a service. Mints tokens for five minutes each if none was passed: a user who can read the site's
 * keys may do anything there already. A role may run as another user, so a token is valid for one role only. The role behind
 * a URL is unknown, so the token for a URL has no such limit.
 */
export function resolveServiceTarget(
  connection: ServiceConnectionOptions,
  now: () => number = Date.now,
): ServiceTarget {
  const { folder, url, token, env } = connection
  const minted = folder && mintedTokens((role, now_ms) => mintToken(folder, env, role, now_ms), now)
  return {
    endpoint: (role) => resolveEndpoint(connection, role),
    token: async (role) => token ?? (await minted?.(url ? undefined : role)),
    explainUnreachable: async (refusal, role) =>
      folder && !url ? await explainMissingRole(refusal, role, folder, env) : refusal,
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

async function mintToken(
  folder: SiteFolder,
  env: ServiceConnectionOptions['env'],
  role: string | undefined,
  now_ms: number,
): Promise<ExpiringToken> {
  const tokens = await offline.tokens()
  return await tokens.mintOperatorToken(folder, env, `cli:${offline.invoker()}`, now_ms, role)
}
