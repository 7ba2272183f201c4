// The part of the gateway that reaches registered services for their tools, and holds what of them is offered now.
import { part } from '../../../kernel/role/part.ts'
import type { ToolClient } from '../../../kernel/tools/client-input.ts'
import type { RemoteResource, RemoteResourceRead } from '../../../kernel/tools/remote-resource.ts'
import type {
  RemoteToolCall,
  RemoteToolOutcome,
  ToolServiceAddress,
  ToolServices,
  UntrustedObject,
} from '../../../kernel/tools/tool-service.ts'
import type { AggregatedResource } from '../resource/aggregated-resource.ts'
import type { AggregatedTool } from '../tool/aggregated-tool.ts'

/** Where the tools of a registered service are. */
export type ToolEndpoint = { readonly service: string; readonly url: URL }

/**
 * What one process of the gateway knows of the lists of a service: the names in it, and whether resources are among them.
 * `trouble`: why they cannot be read at present.
 */
export type ToolListState = {
  readonly listed?: ReadonlySet<string> | undefined
  readonly hasResources?: boolean | undefined
  readonly trouble?: string | undefined
}

export type ServiceOffer = {
  readonly tools: readonly AggregatedTool[]
  readonly resources: readonly AggregatedResource[]
}

/** Calls of a service that are refused at once, since the ones before have failed. */
export type BreakerState = {
  /** For every caller. */
  readonly isOpen: boolean
  /** Callers for which it is. */
  readonly callers: number
}

export interface ServiceTools {
  /** Those that a role of the site has by name: nobody but administrators would have another one. */
  readonly permissions: ReadonlySet<string>
  /** Whether the gateway offers tools in this profile at all. */
  readonly isOffering: boolean
  /** Names of the tools that the gateway has from the code, by service. */
  readonly own: ReadonlyMap<string, ReadonlySet<string>>
  /** For lists: bounded, and at no address outside `ingress.registered_networks`. */
  readonly services: ToolServices
  /** Of the endpoint, with the authorities that the gateway trusts. */
  addressOf(endpoint: ToolEndpoint, token: ToolServiceAddress['token']): ToolServiceAddress
  /** Throws `Refusal`: that of the service, or `unavailable` at once while the service has failed too often. */
  callTool(
    endpoint: ToolEndpoint,
    token: string | undefined,
    call: RemoteToolCall & {
      readonly isRead: boolean
      readonly caller: string
      readonly client: ToolClient | undefined
    },
  ): Promise<RemoteToolOutcome>
  /** The contents of a document; undefined where the service has none of its URI. Throws as `callTool` does. */
  readResource(
    endpoint: ToolEndpoint,
    token: string | undefined,
    read: RemoteResourceRead & { readonly caller: string },
  ): Promise<readonly UntrustedObject[] | undefined>
  /** From now on these tools and resources of the service, and no others. */
  offer(service: string, offered: ServiceOffer): void
  /** Those that are offered of the service now. */
  resourcesOf(service: string): readonly RemoteResource[]
  readonly states: Map<string, ToolListState>
  /** Number of tools and resources of the service that are offered now. */
  countOffered(service: string): number
  /** Of the services that this process spares; a closed breaker is absent. */
  listOpenBreakers(): ReadonlyMap<string, BreakerState>
}
export const serviceToolsPart = part<ServiceTools>('service-tools')

/** The topic on which a process announces that accepted tools have changed. */
export const accepted_tools_topic = 'accepted tools'
