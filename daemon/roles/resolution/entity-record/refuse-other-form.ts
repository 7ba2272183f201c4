// The refusal of a registry with values that an earlier release normalised: they would silently differ from equal new ones.
import { type Refusal, refuse } from '../../../kernel/error/errors.ts'
import type { StoredRecord } from './model.ts'

export function refuseOtherForm({ lens, ref: { node_id, record_id } }: StoredRecord): Refusal {
  return refuse(
    'wrong_state',
    `the registry of ${lens} has values in an earlier normal form of texts, such as those of ${node_id}/${record_id}: start a run of the lens over all its data, and send records again that arrived without a run`,
  )
}
