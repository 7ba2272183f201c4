// A role's operations as tools for AI clients (MCP over streamable HTTP), and the metadata by which such clients find
// out where tokens come from (RFC 9728).

import type { McpResource } from '../../../daemon/kernel/api/mcp-resources.ts'
import { deriveTools, toolsPath } from '../../../daemon/kernel/api/mcp-tools.ts'
import type { HeaderFields, Surface, SurfaceRequest, SurfaceResponse } from '../../../daemon/kernel/api/surface.ts'
import type { Log } from '../../../daemon/kernel/operation/call.ts'
import type { AddressedOperation, ServedRoute } from '../../../daemon/kernel/operation/operation.ts'
import type { Speaking } from './conversation.ts'
import { type Door, doorRefusal } from './front-door.ts'
import { type SessionLimits, Sessions } from './sessions.ts'

export type McpOptions = {
  readonly role: string
  readonly about: { readonly name: string; readonly version: string }
  /** The operations that are tools. */
  readonly offered: readonly AddressedOperation[]
  readonly resources: readonly McpResource[]
  readonly door: Door
  /** From scheme to host and port, as clients write it; of the request's own host when absent. */
  readonly public_url: string | undefined
  readonly isTls: boolean
  /** Issuers of the tokens that are accepted here. */
  readonly authorization_servers: readonly string[]
  readonly sessions: SessionLimits
  readonly now: () => number
  readonly random: (bytes: number) => string
  readonly log: Log
}

const metadataPath = `/.well-known/oauth-protected-resource${toolsPath}`

export function mcpSurface(options: McpOptions): Surface {
  const { door, offered, resources, role } = options
  const sessions = new Sessions(options.sessions, options.now, options.random)
  const failed = (error: Error) => options.log.debug(`${role}.agentspace.refused`, { why: error.message })
  let speaking: Speaking | undefined
  const speak = () => (speaking ??= { about: options.about, tools: deriveTools(offered), resources, sessions, failed })
  return {
    routes: entrancesOf(role, offered),
    refusal: (headers) => doorRefusal(door, headers),
    challenge: (headers) => `, resource_metadata="${baseOf(options, headers)}${metadataPath}"`,
    async answer(request: SurfaceRequest): Promise<SurfaceResponse> {
      if (request.method === 'GET' || request.method === 'HEAD') return metadata(options, request.headers)
      const { answerMessage, endSession } = await import('./conversation.ts')
      return request.method === 'DELETE' ? endSession(speak(), request) : await answerMessage(speak(), request)
    },
  }
}

function entrancesOf(role: string, offered: readonly AddressedOperation[]): ServedRoute[] {
  const limits = offered.flatMap(({ operation }) => operation.max_body_bytes ?? [])
  const max_body_bytes = Math.max(1_048_576, ...limits)
  const own = { path: toolsPath, allow: 'authenticated', max_body_bytes } as const
  const open = { path: metadataPath, also: ['/.well-known/oauth-protected-resource'], allow: 'public' } as const
  return [
    { address: `${role}.agentspace.message`, operation: { ...own, method: 'POST' } },
    { address: `${role}.agentspace.end`, operation: { ...own, method: 'DELETE' } },
    { address: `${role}.agentspace.metadata`, operation: { ...open, method: 'GET' } },
  ]
}

function metadata(options: McpOptions, headers: HeaderFields): SurfaceResponse {
  const text = JSON.stringify({
    resource: `${baseOf(options, headers)}${toolsPath}`,
    resource_name: options.about.name,
    authorization_servers: options.authorization_servers,
    bearer_methods_supported: ['header'],
  })
  return { status: 200, headers: { 'content-type': 'application/json' }, text }
}

/** The host is one that the door lets in, or the request would have ended there. */
function baseOf({ public_url, isTls }: McpOptions, { host }: HeaderFields): string {
  return public_url?.replace(/\/$/, '') ?? `${isTls ? 'https' : 'http'}://${host}`
}
