// What a source's items are raised as: under its name, tenant and label, whatever they say themselves.
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
 * `known`: what the delivery, the file or the answer is known as. An item with an id of its own is known by that alone, so
 * that it may come in several of them.
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
