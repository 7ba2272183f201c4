// What every command that talks to a running service takes, and the client made of it.
import type { Client } from './client/client.ts'
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
  const token = given.token ?? (terminal.env.PLATFORM_TOKEN || undefined)
  const url = given.url === undefined ? undefined : urlOf(given.url)
  const folder = url && token ? undefined : requireSite(given, terminal)
  const { clientOf } = await import('./client/reach.ts')
  return clientOf({ folder, url, token, env: terminal.env })
}

function urlOf(given: string): URL {
  const url = URL.parse(given)
  if (!url || !/^https?:$/.test(url.protocol)) throw new Failure(2, '--url must be an http or https URL')
  if (url.username || url.password) throw new Failure(2, '--url must not carry credentials; use PLATFORM_TOKEN')
  return url
}
