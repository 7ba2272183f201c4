// The options of commands that use the tools of a service, and the address and connection that follow from them.
import { toolsPath } from '../../daemon/kernel/api/mcp-tools.ts'
import { isRefusal } from '../../daemon/kernel/error/errors.ts'
import type { ToolConnection, ToolServiceAddress } from '../../daemon/kernel/tools/tool-service.ts'
import { offline } from '../../daemon/offline/offline.ts'
import type { ServiceTarget } from '../client/client.ts'
import type { ServiceConnectionOptions } from '../client/connection.ts'
import { CommandFailure } from '../program/command.ts'
import { text } from '../program/params.ts'
import type { Terminal } from '../terminal/terminal.ts'
import { type AgentspaceAddress, readAgentspaceUrl, requireAgentspaceToken } from './agentspace-url.ts'
import {
  readAuthorities,
  readNamedToken,
  readServiceUrl,
  resolveConnectionOptions,
  type ServiceOptionsInput,
  serviceOptions,
} from './service-options.ts'

export const toolServiceOptions = {
  role: text(
    'ROLE',
    'Role of this site whose tools to use, such as consensus (default: the gateway of AGENTSPACE_URL)',
  ),
  ...serviceOptions,
  ca: text('FILE', 'Authorities in PEM that may have signed the certificate of the service (default: those of Node)'),
  url: text(
    'URL',
    'Use the tools of this service instead: its root, or the URL of its endpoint. It gets the token of --token-file alone',
  ),
}

type ToolServiceInput = ServiceOptionsInput & { readonly role: string | undefined }

/** Connects, passes the connection to `use`, and closes it afterwards. */
export async function withToolService<T>(
  params: ToolServiceInput,
  terminal: Terminal,
  use: (connection: ToolConnection) => Promise<T>,
): Promise<T> {
  const address = await resolveToolService(params, terminal)
  const { openToolServices } = await offline.toolServices()
  const connection = await openToolServices()
    .connect(address)
    .catch((error: unknown) => {
      throw explainMissingTools(error, params.role)
    })
  try {
    return await use(connection)
  } finally {
    await connection.close()
  }
}

/** A role answers 404 where its settings or the deployment profile offer no tools. */
function explainMissingTools(error: unknown, role: string | undefined): unknown {
  if (role === undefined || !isRefusal(error) || error.code !== 'not_found') return error
  return new CommandFailure(
    1,
    error.message,
    `\`platform profile explain\` shows mcp_enabled of the roles that have tools; the default of profile D is false`,
  )
}

/** The endpoint of a role as it runs now, of `--url`, or of the environment. Throws `CommandFailure` (2) without any, and `Refusal`. */
export async function resolveToolService(params: ToolServiceInput, terminal: Terminal): Promise<ToolServiceAddress> {
  const { role, url } = params
  if (role !== undefined && url === undefined) return await resolveRole(role, params, terminal)
  if (url !== undefined && role === undefined) return await resolveOtherService(url, params, terminal)
  const agentspace = role === undefined ? readAgentspaceUrl(terminal.env) : undefined
  if (agentspace) return await resolveAgentspace(agentspace, params, terminal)
  throw new CommandFailure(
    2,
    'exactly one of --role and --url is needed, or AGENTSPACE_URL',
    '`platform status` lists the roles',
  )
}

async function resolveAgentspace(
  { tools }: AgentspaceAddress,
  params: ToolServiceInput,
  terminal: Terminal,
): Promise<ToolServiceAddress> {
  const token = await requireAgentspaceToken(params, terminal)
  const ca = params.ca === undefined ? undefined : readAuthorities(params.ca, tools)
  return { url: tools, ca, token: async () => token }
}

async function resolveRole(role: string, params: ToolServiceInput, terminal: Terminal): Promise<ToolServiceAddress> {
  const { resolveServiceTarget } = await import('../client/connection.ts')
  await requireExistingRole(role)
  const options = await resolveConnectionOptions({ ...params, ca: undefined }, terminal)
  const target = resolveServiceTarget(options)
  const root = (await readPublicUrl(role, options)) ?? (await findListener(target, role))
  const ca = params.ca === undefined ? undefined : readAuthorities(params.ca, root)
  return { url: new URL(toolsPath, root), ca, token: () => target.token(role) }
}

/** The setting `mcp_url`: behind a reverse proxy, or for the name that the certificate of the role has. */
async function readPublicUrl(role: string, { folder, env }: ServiceConnectionOptions): Promise<URL | undefined> {
  if (!folder) return undefined
  const profile = await offline.profile()
  const { mcp_url } = profile.readSiteSettings(folder, env).resolved.values.get(role) ?? {}
  return typeof mcp_url === 'string' ? new URL(mcp_url) : undefined
}

/** The service may be anybody's: it gets no token that was made for this site, minted or of the environment. */
async function resolveOtherService(
  service: string,
  params: ToolServiceInput,
  terminal: Terminal,
): Promise<ToolServiceAddress> {
  const { url, ca } = readServiceUrl(service, params.ca)
  const token = await readNamedToken(params, terminal)
  return { url: endpointOf(url), ca, token: async () => token }
}

/** A URL without a path names the root of a service. */
function endpointOf(url: URL): URL {
  return url.pathname === '/' ? new URL(toolsPath, url) : url
}

async function requireExistingRole(role: string): Promise<void> {
  const { roles } = await import('../../daemon/roles.ts')
  if (!roles.some(({ name }) => name === role))
    throw new CommandFailure(
      2,
      `the role "${role}" does not exist; the roles are ${roles.map(({ name }) => name).join(', ')}`,
    )
}

/** Tools are on the listener of the role, and not on its local socket. */
async function findListener(target: ServiceTarget, role: string): Promise<URL> {
  const { createServiceClient } = await import('../client/client.ts')
  const { listens } = await createServiceClient(target).call(`${role}.service.health`, {})
  const root = (listens as readonly string[] | undefined)?.find((each) => URL.canParse(each) && each.startsWith('http'))
  if (root === undefined)
    throw new CommandFailure(3, `role ${role} has no listener that serves tools`, 'set its `port` in the profile')
  return new URL(root)
}
