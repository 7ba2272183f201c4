// The setting of the demo of the gateway: two sites, two services, and those who use them through the edge.
import type { ServiceClient } from '../client/client.ts'
import type { Terminal } from '../terminal/terminal.ts'
import type { CheckList } from './check-list.ts'
import type { GatewayCaller } from './gateway-caller.ts'
import type { GatewayServices } from './gateway-services.ts'
import type { GatewaySites } from './gateway-sites.ts'

export type GatewayStage = {
  readonly sites: GatewaySites
  readonly services: GatewayServices
  /** The AI client, with the token of its user, which is for alpha. */
  readonly caller: GatewayCaller
  readonly token: string
  /** An administrator of alpha. */
  readonly admin: ServiceClient
  readonly list: CheckList
  readonly terminal: Terminal
  readonly signal: AbortSignal
  readonly printLine: (line: string) => void
}

/** Names under which the gateway offers the tools of the demo. */
export const demoTools = {
  signal: 'intelligence-service__create_signal',
  distance: 'maps__distance',
  berths: 'berths__free_berths',
  start: 'resolution-service__fusion_run_start',
  status: 'resolution-service__fusion_run_status',
  summary: 'resolution-service__fusion_run_summary',
} as const
