// The options of every command that calls a running service, and the client that they configure.

import * as z from 'zod'
import { parseJsonAs } from '../../daemon/kernel/encoding/parse-json.ts'
import type { ServiceClient } from '../client/client.ts'
import type { ServiceConnectionOptions } from '../client/connection.ts'
import { max_authorities_bytes, readInputFile } from '../file/input-file.ts'
import { CommandFailure } from '../program/command.ts'
import { text } from '../program/params.ts'
import type { Terminal } from '../terminal/terminal.ts'
import { readSecretOption, secretFile } from './secret-option.ts'
import { jsonOption, requireSite, siteOption } from './site-options.ts'

export const serviceOptions = {
  ...siteOption,
  url: text('URL', 'Connect to this listener instead of the local socket'),
  ca: text('FILE', 'Authorities in PEM that may have signed the certificate of --url (default: those of Node)'),
  token: text(
    'TOKEN',
    'Bearer token (default: minted locally). Prefer PLATFORM_TOKEN: arguments are visible to other users',
  ),
  tokenFile: secretFile('Bearer token'),
  ...jsonOption,
}

export type ServiceOptionsInput = {
  readonly site: string | undefined
  readonly url: string | undefined
  readonly ca: string | undefined
  readonly token: string | undefined
  readonly tokenFile: string | undefined
}

/** Client of the service. Needs a site unless both a URL and a token are passed. */
export async function connectService(params: ServiceOptionsInput, terminal: Terminal): Promise<ServiceClient> {
  const { connectServiceClient } = await import('../client/connection.ts')
  return connectServiceClient(await resolveConnectionOptions(params, terminal))
}

/** Needs a site unless both a URL and a token are passed. */
export async function resolveConnectionOptions(
  params: ServiceOptionsInput,
  terminal: Terminal,
): Promise<ServiceConnectionOptions> {
  const token = (await readNamedToken(params, terminal)) ?? (terminal.env.PLATFORM_TOKEN || undefined)
  if (params.url === undefined && params.ca !== undefined) throw authoritiesWithoutHttps()
  const { url, ca } = params.url === undefined ? {} : readServiceUrl(params.url, params.ca)
  const folder = url && token ? undefined : requireSite(params, terminal)
  return { folder, url, ca, token, env: terminal.env }
}

/** The token of the options alone: neither one of the environment, nor a minted one. */
export async function readNamedToken(
  { token, tokenFile }: Pick<ServiceOptionsInput, 'token' | 'tokenFile'>,
  terminal: Terminal,
): Promise<string | undefined> {
  if (token !== undefined && tokenFile !== undefined)
    throw new CommandFailure(2, 'only one of --token and --token-file is allowed')
  return token ?? (await readSecretOption(tokenFile, 'token', terminal))
}

/** `ca`: a file of authorities. */
export function readServiceUrl(text: string, ca: string | undefined): { readonly url: URL; readonly ca?: string } {
  const url = parseServiceUrl(text)
  return { url, ...(ca === undefined ? {} : { ca: readAuthorities(ca, url) }) }
}

/** Also returns the subject of the token. Throws `CommandFailure` (2) if the token has none. */
export async function connectServiceWithSubject(
  params: ServiceOptionsInput,
  terminal: Terminal,
): Promise<{ api: ServiceClient; subject: string }> {
  const [{ resolveServiceTarget }, { createServiceClient }] = await Promise.all([
    import('../client/connection.ts'),
    import('../client/client.ts'),
  ])
  const target = resolveServiceTarget(await resolveConnectionOptions(params, terminal))
  const subject = readTokenSubject((await target.token('site')) ?? '')
  if (subject === undefined)
    throw new CommandFailure(2, 'the token has no subject (claim sub); use a token of one person')
  return { api: createServiceClient(target), subject }
}

const subjectClaim = z.object({ sub: z.string().min(1) })

/** Reads the subject unverified: the service verifies the token. */
function readTokenSubject(token: string): string | undefined {
  return parseJsonAs(subjectClaim, Buffer.from(token.split('.')[1] ?? '', 'base64url'))?.sub
}

/**
 * The authorities that a connection to the URL trusts. Throws `CommandFailure` (2) for a file without a certificate: every
 * connection would fail, for no reason that is shown.
 */
export function readAuthorities(file: string, url: URL): string {
  if (url.protocol !== 'https:') throw authoritiesWithoutHttps(url)
  const authorities = readInputFile(file, max_authorities_bytes).toString()
  if (authorities.includes('-----BEGIN CERTIFICATE-----')) return authorities
  throw new CommandFailure(2, `${file} holds no certificate in PEM`, 'export the authority as PEM')
}

function authoritiesWithoutHttps(url?: URL): CommandFailure {
  const found = url === undefined ? '' : `, and this is ${url.origin}`
  return new CommandFailure(2, `--ca needs an https URL${found}`, 'name it with --url')
}

function parseServiceUrl(text: string): URL {
  const url = URL.parse(text)
  if (!url || !/^https?:$/.test(url.protocol)) throw new CommandFailure(2, '--url must be an http or https URL')
  if (url.username || url.password) throw new CommandFailure(2, '--url must not carry credentials; use PLATFORM_TOKEN')
  return url
}
