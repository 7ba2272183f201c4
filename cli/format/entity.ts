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
  readonly updated_at: string
}

export function formatEntity(terminal: Terminal, entity: ApiObject): string {
  const { uid, state, entity_type, lens, size, lineage, updated_at } = entity as unknown as EntityItem
  const { merged_into } = lineage
  return formatFields(terminal, { entity: uid, state, entity_type, lens, records: size, merged_into, updated_at })
}
