// The options of commands that use the tools of a service, and the address and connection that follow from them.
import { toolsPath } from '../../daemon/kernel/api/mcp-tools.ts'
import type { ToolConnection, ToolServiceAddress } from '../../daemon/kernel/tools/tool-service.ts'
import { offline } from '../../daemon/offline/offline.ts'
import { CommandFailure } from '../program/command.ts'
import { text } from '../program/params.ts'
import type { Terminal } from '../terminal/terminal.ts'
import { resolveConnectionOptions, type ServiceOptionsInput, serviceOptions } from './service-options.ts'

export const toolServiceOptions = {
  role: text('ROLE', 'Role of this site whose tools to use, such as consensus'),
  ...serviceOptions,
  url: text('URL', 'Use the tools of this service instead: its root, or the URL of its endpoint'),
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
  const connection = await openToolServices().connect(address)
  try {
    return await use(connection)
  } finally {
    await connection.close()
  }
}

/** The endpoint of a role as it runs now, or the one of `--url`. Throws `CommandFailure` (2) without either, and `Refusal`. */
export async function resolveToolService(params: ToolServiceInput, terminal: Terminal): Promise<ToolServiceAddress> {
  const { role, url } = params
  if ((role === undefined) === (url === undefined))
    throw new CommandFailure(2, 'exactly one of --role and --url is needed', '`platform status` lists the roles')
  const { resolveServiceTarget } = await import('../client/connection.ts')
  const connection = await resolveConnectionOptions(params, terminal)
  const target = resolveServiceTarget(connection)
  const token = () => target.token(role ?? '')
  if (connection.url) return { url: endpointOf(connection.url), ca: connection.ca, token }
  return { url: await findRoleEndpoint(target, String(role)), token }
}

/** A URL without a path names the root of a service. */
function endpointOf(url: URL): URL {
  return url.pathname === '/' ? new URL(toolsPath, url) : url
}

/** Tools are on the listener of the role, and not on its local socket. */
async function findRoleEndpoint(
  target: Parameters<typeof import('../client/client.ts')['createServiceClient']>[0],
  role: string,
): Promise<URL> {
  const { createServiceClient } = await import('../client/client.ts')
  const { roles } = await import('../../daemon/roles.ts')
  if (!roles.some(({ name }) => name === role))
    throw new CommandFailure(
      2,
      `the role "${role}" does not exist; the roles are ${roles.map(({ name }) => name).join(', ')}`,
    )
  const { listens } = await createServiceClient(target).call(`${role}.service.health`, {})
  const root = (listens as readonly string[] | undefined)?.find((each) => URL.canParse(each) && each.startsWith('http'))
  if (root === undefined)
    throw new CommandFailure(3, `role ${role} has no listener that serves tools`, 'set its `port` in the profile')
  return new URL(toolsPath, root)
}
