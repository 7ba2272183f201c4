// Formats an entity of the registry.
import type { ApiObject } from '../client/client.ts'
import { formatFields } from '../terminal/output.ts'
import type { Terminal } from '../terminal/terminal.ts'

type EntityItem = {
  readonly uid: string
  readonly state: string
  readonly entity_type: string
  readonly lens: string
  readonly size: number
  readonly lineage: { readonly merged_into?: readonly string[] }
  readonly deleted?: RemovalItem
  readonly forgotten?: RemovalItem
  readonly updated_at: string
}

type RemovalItem = { readonly at: string; readonly by: string; readonly reason: string }

export function formatEntity(terminal: Terminal, entity: ApiObject): string {
  const { uid, state, entity_type, lens, size, lineage, ...times } = entity as unknown as EntityItem
  const { merged_into } = lineage
  const [deleted, forgotten] = [formatRemoval(times.deleted), formatRemoval(times.forgotten)]
  const removals = { deleted, records_forgotten: forgotten }
  const fields = { entity: uid, state, entity_type, lens, records: size, merged_into, ...removals }
  return formatFields(terminal, { ...fields, updated_at: times.updated_at })
}

function formatRemoval(removal: RemovalItem | undefined): string | undefined {
  return removal && `${removal.at} by ${removal.by}: ${removal.reason}`
}
