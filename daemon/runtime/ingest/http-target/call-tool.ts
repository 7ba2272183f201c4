// Calls one MCP tool of a target, in a session of its own.
import { product } from '../../../../adapters/platform/product/product.ts'
import { isRefusal } from '../../../kernel/error/errors.ts'
import type { RemoteToolResult, ToolConnection } from '../../../kernel/tools/tool-service.ts'
import { RowSourceError } from '../../../shared/row-source/row-source.ts'
import { type OpenTarget, urlWithin } from './open-target.ts'

const max_depth = 128
const max_tools = 2_000
const endpoint = 'agentspace'

/** Throws `RowSourceError` without an address. */
export async function callTool(
  target: OpenTarget,
  name: string,
  input: Readonly<Record<string, unknown>>,
): Promise<RemoteToolResult> {
  const { mcpToolServices } = await import('../../../../adapters/tools/mcp/connect-tools.ts')
  const { rule, ca, timeout_ms, max_bytes } = target
  const services = mcpToolServices({
    ...{ about: { name: product.name, version: product.version }, rule },
    limits: { answer_ms: timeout_ms, answer_bytes: max_bytes, depth: max_depth, tools: max_tools },
  })
  const token = findBearer(target)
  let connection: ToolConnection | undefined
  try {
    connection = await services.connect({ url: urlWithin(target, endpoint), token: async () => token, ca })
    return await connection.callTool({ name, input, timeout_ms })
  } catch (error) {
    throw isRefusal(error) ? describe(target, error) : error
  } finally {
    await connection?.close()
  }
}

function findBearer({ authorization }: OpenTarget): string | undefined {
  if (authorization === undefined) return undefined
  const [, token] = /^Bearer ([A-Za-z0-9._~+/=-]+)$/i.exec(authorization) ?? []
  if (token !== undefined) return token
  throw new RowSourceError('MCP needs a bearer: the file with the Authorization header of the target has another kind')
}

/** Messages of the client name the origin. */
function describe({ name, base }: OpenTarget, { code, message }: { readonly code: string; readonly message: string }) {
  const isFinal = code !== 'unavailable' && code !== 'timeout'
  return new RowSourceError(message.replaceAll(base.origin, `the target ${name}`).slice(0, 1_000), isFinal)
}
