// The options of every command that calls a running service, and the client that they configure.

import * as z from 'zod'
import { parseJsonAs } from '../../daemon/kernel/encoding/parse-json.ts'
import type { ServiceClient } from '../client/client.ts'
import type { ServiceConnectionOptions } from '../client/connection.ts'
import { CommandFailure } from '../program/command.ts'
import { text } from '../program/params.ts'
import type { Terminal } from '../terminal/terminal.ts'
import { jsonOption, requireSite, siteOption } from './site-options.ts'

export const serviceOptions = {
  ...siteOption,
  url: text('URL', 'Connect to this listener instead of the local socket'),
  token: text(
    'TOKEN',
    'Bearer token (default: minted locally). Prefer PLATFORM_TOKEN: arguments are visible to other users',
  ),
  ...jsonOption,
}

type ServiceOptionsInput = {
  readonly site: string | undefined
  readonly url: string | undefined
  readonly token: string | undefined
}

/** Needs a site unless both a URL and a token are given. */
export async function connectService(given: ServiceOptionsInput, terminal: Terminal): Promise<ServiceClient> {
  const { connectServiceClient } = await import('../client/connection.ts')
  return connectServiceClient(resolveConnectionOptions(given, terminal))
}

function resolveConnectionOptions(given: ServiceOptionsInput, terminal: Terminal): ServiceConnectionOptions {
  const token = given.token ?? (terminal.env.PLATFORM_TOKEN || undefined)
  const url = given.url === undefined ? undefined : parseServiceUrl(given.url)
  const folder = url && token ? undefined : requireSite(given, terminal)
  return { folder, url, token, env: terminal.env }
}

/** Also returns the subject of the token. Throws `CommandFailure` (2) if the token has none. */
export async function connectServiceWithSubject(
  given: ServiceOptionsInput,
  terminal: Terminal,
): Promise<{ api: ServiceClient; subject: string }> {
  const [{ resolveServiceTarget }, { createServiceClient }] = await Promise.all([
    import('../client/connection.ts'),
    import('../client/client.ts'),
  ])
  const target = resolveServiceTarget(resolveConnectionOptions(given, terminal))
  const subject = readTokenSubject((await target.token('site')) ?? '')
  if (subject === undefined) throw new CommandFailure(2, 'the token has no subject (claim sub)')
  return { api: createServiceClient(target), subject }
}

const subjectClaim = z.object({ sub: z.string().min(1) })

/** Reads the subject unverified: the service verifies the token. */
function readTokenSubject(token: string): string | undefined {
  return parseJsonAs(subjectClaim, Buffer.from(token.split('.')[1] ?? '', 'base64url'))?.sub
}

function parseServiceUrl(given: string): URL {
  const url = URL.parse(given)
  if (!url || !/^https?:$/.test(url.protocol)) throw new CommandFailure(2, '--url must be an http or https URL')
  if (url.username || url.password) throw new CommandFailure(2, '--url must not carry credentials; use PLATFORM_TOKEN')
  return url
}
