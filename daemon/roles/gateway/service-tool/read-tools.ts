// Reads the tools of a service in the name of the administrator who requests them.
import { isRefusal, type Refusal } from '../../../kernel/error/errors.ts'
import type { Call } from '../../../kernel/operation/call.ts'
import type { ToolAuthentication } from './model.ts'
import { serviceToolsPart, type ToolEndpoint } from './parts.ts'
import { type ListedTool, readListedTool } from './rules.ts'

/** Tools whose digests are computed in one turn of the event loop: a list may hold megabytes. */
const tools_per_turn = 16

/** By name. The refusal of the service, or of `site` for the token. */
export async function readTools(
  call: Call,
  endpoint: ToolEndpoint,
  authentication: ToolAuthentication,
): Promise<readonly ListedTool[] | Refusal> {
  const { services, addressOf } = call.part(serviceToolsPart)
  const token = async () => {
    if (authentication === 'none') return undefined
    const issued = await call.delegation().token({ service: endpoint.service })
    if (isRefusal(issued)) throw issued
    return issued.token
  }
  try {
    const connection = await services.connect(addressOf(endpoint, token), call.signal)
    try {
      return await readListedTools(call, await connection.listTools())
    } finally {
      await connection.close()
    }
  } catch (error) {
    if (isRefusal(error)) return error
    throw error
  }
}

/** Sorted by name, so that lists of the gateway keep their order whatever the order of the service is. */
export async function readListedTools(
  { pause }: Pick<Call, 'pause'>,
  tools: readonly Parameters<typeof readListedTool>[0][],
): Promise<readonly ListedTool[]> {
  const listed: ListedTool[] = []
  for (const tool of tools) {
    listed.push(readListedTool(tool))
    if (listed.length % tools_per_turn === 0) await pause()
  }
  return listed.sort((one, other) => (one.name < other.name ? -1 : 1))
}
