// Builds the signals of a source's items: name, tenant and label come from the settings of the source, not from the
// items.
import type { Label } from '../../../../kernel/label/label.ts'
import type { MappedItem } from '../mapping/rules.ts'
import type { RaiseSignalInput } from './model.ts'

export type SourceIdentity = {
  readonly name: string
  readonly tenant_id: string
  readonly label: Label
  readonly type: 'webhook' | 'polling'
}

/**
 * `known`: id of the delivery, file or response. An item with its own id is identified by that alone, since it may
 * appear in several of them.
 */
export function buildRaiseInputs(
  { name, tenant_id, label, type }: SourceIdentity,
  items: readonly MappedItem[],
  known: string,
): RaiseSignalInput[] {
  return items.map(({ id, fields }, at) => ({
    origin: `source:${name}`,
    key: id === undefined ? `in:${known}/${at}` : `id:${id}`,
    tenant_id,
    label,
    source: { type, name },
    fields,
  }))
}
