// Records the version of a lens that is in use from now on.
import { labelKey } from '../../../kernel/label/label.ts'
import type { Call } from '../../../kernel/operation/call.ts'
import type { Doc } from '../../../kernel/store/store.ts'
import { holdName } from '../../../shared/name-holder/hold-name.ts'
import type { StoredLens } from '../lens/stored-lens.ts'
import { bindingUid, lensBindings, type StoredBinding } from './model.ts'

/** `label`: the label of the run that names the data set and columns; without a run, the label of the lens applies. */
export type LensVersionReference = Pick<StoredBinding, 'dataset' | 'columns' | 'run_id'> &
  Partial<Pick<StoredBinding, 'label'>>

/** Creates or replaces a binding. The same lens and run again change nothing. */
export async function bindLens(
  call: Call,
  { id, value }: Doc<StoredLens>,
  use: LensVersionReference = {},
): Promise<void> {
  const { tenant_id, label, lens, lens_version, entity_type } = value
  const uid = bindingUid(tenant_id, lens, entity_type, use.dataset)
  const binding = { tenant_id, label, entity_type, lens, lens_id: id, lens_version, ...use, updated_at: call.nowIso() }
  const store = call.store(lensBindings)
  // The binding of one label does not hide or replace that of another.
  const { doc, isNew } = await holdName(store, uid, binding.label, {
    create: (free) => store.create(free, binding),
    fits: (held) => labelKey(held.label) === labelKey(binding.label),
  })
  if (isNew) return
  await store.update(doc.id, (current) => {
    const isSame = current.value.lens_id === id && current.value.run_id === use.run_id
    return isSame ? { answer: undefined } : { next: binding, answer: undefined }
  })
}
