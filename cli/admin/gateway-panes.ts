// Reads the panes of a gateway: guidance, and lists of its registry, of its counts and of its audit log, which wait for no other
// service.
import type { ApiObject } from '../client/client.ts'
import { fetchItems } from '../client/fetch-items.ts'
import { denialRecords, readDenialRow } from '../client/guardrail-rows.ts'
import type { OperationCall, PaneContent } from './admin-snapshot.ts'
import { readGuidance } from './guidance-pane.ts'

type GatewayPane = 'guidance' | 'services' | 'tools' | 'quotas' | 'decisions'

/** About as many as a person scrolls through; the total counts the others. */
const max_rows = 500
const max_decisions = 100

export function listGatewayReaders(
  call: OperationCall,
): readonly (readonly [GatewayPane, 'gateway', () => Promise<PaneContent>])[] {
  const read = (address: string, limit: number, input: ApiObject) => fetchItems({ call }, address, input, { limit })
  const list = async (address: string, limit = max_rows, input: ApiObject = {}): Promise<PaneContent> => {
    const page = await read(address, limit, input)
    return { items: page.items, total: page }
  }
  return [
    ['guidance', 'gateway', () => readGuidance(call, read)],
    ['services', 'gateway', () => list('gateway.registered-service.list')],
    ['tools', 'gateway', () => list('gateway.service-tool.list')],
    ['quotas', 'gateway', () => list('gateway.quota.list')],
    ['decisions', 'gateway', () => readDecisions(list)],
  ]
}

async function readDecisions(
  list: (address: string, limit: number, input: ApiObject) => Promise<PaneContent>,
): Promise<PaneContent> {
  const { items, ...rest } = await list(denialRecords.operation, max_decisions, denialRecords.input)
  return { ...rest, items: items.map(readDenialRow) }
}
