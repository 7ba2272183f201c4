// What every command that talks to a running service takes, and the client made of it.
import * as z from 'zod'
import type { Client } from './client/client.ts'
import type { Reach } from './client/reach.ts'
import { Failure } from './command.ts'
import { text } from './params.ts'
import { jsonOption, requireSite, siteOption } from './site.ts'
import type { Terminal } from './terminal.ts'

export const serviceOptions = {
  ...siteOption,
  url: text('URL', 'ask this listener instead of the local socket'),
  token: text('TOKEN', 'bearer token; better PLATFORM_TOKEN, since others can see argument lists; else minted here'),
  ...jsonOption,
}

type Asked = {
  readonly site: string | undefined
  readonly url: string | undefined
  readonly token: string | undefined
}

/** A site is only needed where no URL and no token are given. */
export async function service(given: Asked, terminal: Terminal): Promise<Client> {
  const { clientOf } = await import('./client/reach.ts')
  return clientOf(reachOf(given, terminal))
}

function reachOf(given: Asked, terminal: Terminal): Reach {
  const token = given.token ?? (terminal.env.PLATFORM_TOKEN || undefined)
  const url = given.url === undefined ? undefined : urlOf(given.url)
  const folder = url && token ? undefined : requireSite(given, terminal)
  return { folder, url, token, env: terminal.env }
}

/** The same, with the subject that the service will take the caller for. Throws `Failure` (2) for a token that names none. */
export async function serviceAs(given: Asked, terminal: Terminal): Promise<{ api: Client; subject: string }> {
  const [{ targetOf }, { client }] = await Promise.all([import('./client/reach.ts'), import('./client/client.ts')])
  const target = targetOf(reachOf(given, terminal))
  const subject = subjectIn((await target.token('site')) ?? '')
  if (subject === undefined) throw new Failure(2, 'the token names no subject')
  return { api: client(target), subject }
}

const claims = z.object({ sub: z.string().min(1) })

/** What the token says of itself, unverified: the service is the judge of it. */
function subjectIn(token: string): string | undefined {
  try {
    return claims.safeParse(JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString('utf8'))).data?.sub
  } catch {
    return undefined
  }
}

function urlOf(given: string): URL {
  const url = URL.parse(given)
  if (!url || !/^https?:$/.test(url.protocol)) throw new Failure(2, '--url must be an http or https URL')
  if (url.username || url.password) throw new Failure(2, '--url must not carry credentials; use PLATFORM_TOKEN')
  return url
}
