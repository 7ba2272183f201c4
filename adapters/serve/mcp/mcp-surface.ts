// A role's operations as tools for AI clients (MCP over streamable HTTP), and the metadata that shows such clients
// where to get tokens (RFC 9728).

import type { McpResource } from '../../../daemon/kernel/api/mcp-resources.ts'
import { toolRouteAddress, toolsPath } from '../../../daemon/kernel/api/mcp-tools.ts'
import type { PassedResource } from '../../../daemon/kernel/api/passed-resources.ts'
import type {
  HeaderFields,
  Surface,
  SurfaceRequest,
  SurfaceResponse,
  SurfaceStream,
} from '../../../daemon/kernel/api/surface.ts'
import {
  type AddressedOperation,
  default_body_bytes,
  default_body_values,
  type ServedRoute,
} from '../../../daemon/kernel/operation/operation.ts'
import type { Log } from '../../../daemon/kernel/telemetry/log.ts'
import type { McpContext } from './answer-message.ts'
import { type McpSessionLimits, McpSessions } from './mcp-sessions.ts'
import { checkRequestOrigin, type OriginPolicy } from './origin-check.ts'
import { ResourceCatalogue } from './resource-catalogue.ts'
import { openSessionStream } from './session-stream.ts'
import { ToolCatalogue } from './tool-catalogue.ts'

export type McpSurfaceOptions = {
  readonly role: string
  readonly about: { readonly name: string; readonly version: string }
  /** The operations that are tools now: the same array until they change. */
  readonly operations: () => readonly AddressedOperation[]
  /** Yields at once, after each change of the operations, and at least every `watch_interval_ms`. */
  readonly changes: (signal: AbortSignal) => AsyncIterable<void>
  readonly resources: readonly McpResource[]
  /** Resources of other services: the same array until they change, as announced with the tools. Absent: there are never any. */
  readonly passedResources?: (() => readonly PassedResource[]) | undefined
  readonly origin_policy: OriginPolicy
  /** From scheme to host and port, as clients write it; of the request's own host when absent. */
  readonly public_url: string | undefined
  readonly isTls: boolean
  /** Issuers of the tokens that are accepted here. */
  readonly authorization_servers: readonly string[]
  readonly sessions: McpSessionLimits
  readonly now: () => number
  readonly random: (bytes: number) => string
  readonly log: Log
}

const metadataPath = `/.well-known/oauth-protected-resource${toolsPath}`

export function mcpSurface(options: McpSurfaceOptions): Surface {
  const { about, changes, now, operations, origin_policy, resources, role } = options
  const sessions = new McpSessions(options.sessions, options.now, options.random)
  const failed = (error: Error) => options.log.debug(`${role}.agentspace.refused`, { why: error.message })
  let speaking: McpContext | undefined
  let loaded: Promise<typeof import('./answer-message.ts')> | undefined
  const speak = () =>
    (speaking ??= {
      about,
      catalogue: new ToolCatalogue(operations),
      changes,
      now,
      resources: new ResourceCatalogue(resources, options.passedResources),
      sessions,
      onError: failed,
    })
  return {
    name: 'agentspace',
    routes: listRoutes(role, operations()),
    refusal: (headers) => checkRequestOrigin(origin_policy, headers),
    challenge: (headers) => `, resource_metadata="${baseUrl(options, headers)}${metadataPath}"`,
    async answer(request: SurfaceRequest): Promise<SurfaceResponse | SurfaceStream> {
      const { method, path, headers } = request
      if (path.split('?')[0] !== toolsPath) return metadataResponse(options, headers)
      if (method === 'GET' || method === 'HEAD') return openSessionStream(speak(), request)
      loaded ??= import('./answer-message.ts')
      const { answerMessage, endSession } = await loaded
      return method === 'DELETE' ? endSession(speak(), request) : await answerMessage(speak(), request)
    },
  }
}

/** The limits of a message are those of the operations at the start. */
function listRoutes(role: string, operations: readonly AddressedOperation[]): ServedRoute[] {
  const max_body_bytes = Math.max(
    default_body_bytes,
    ...operations.map(({ operation }) => operation.max_body_bytes ?? 0),
  )
  const max_body_values = Math.max(
    default_body_values,
    ...operations.map(({ operation }) => operation.max_body_values ?? 0),
  )
  const own = { path: toolsPath, allow: 'authenticated', max_body_bytes, max_body_values } as const
  const open = { path: metadataPath, also: ['/.well-known/oauth-protected-resource'], allow: 'public' } as const
  return [
    { address: toolRouteAddress(role, 'message'), operation: { ...own, method: 'POST' } },
    { address: toolRouteAddress(role, 'stream'), operation: { ...own, method: 'GET', streams: true } },
    { address: toolRouteAddress(role, 'end'), operation: { ...own, method: 'DELETE' } },
    { address: toolRouteAddress(role, 'metadata'), operation: { ...open, method: 'GET' } },
  ]
}

function metadataResponse(options: McpSurfaceOptions, headers: HeaderFields): SurfaceResponse {
  const text = JSON.stringify({
    resource: `${baseUrl(options, headers)}${toolsPath}`,
    resource_name: options.about.name,
    authorization_servers: options.authorization_servers,
    bearer_methods_supported: ['header'],
  })
  return { status: 200, headers: { 'content-type': 'application/json' }, text }
}

/** The host is an allowed one: the origin check has refused others. */
function baseUrl({ public_url, isTls }: McpSurfaceOptions, { host }: HeaderFields): string {
  return public_url?.replace(/\/$/, '') ?? `${isTls ? 'https' : 'http'}://${host}`
}
