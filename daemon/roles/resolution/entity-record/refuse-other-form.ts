// The refusal of a registry with values that an earlier release normalised: they would silently differ from equal new ones.
import { type Refusal, refuse } from '../../../kernel/error/errors.ts'
import type { StoredRecord } from './model.ts'

/** `named`: one of the records, where the reader of the refusal may see it. */
export function refuseOtherForm(lens: string, named: StoredRecord['ref'] | undefined): Refusal {
  const example = named ? `, such as those of ${named.node_id}/${named.record_id}` : ''
  return refuse(
    'wrong_state',
    `the registry of ${lens} has values in an earlier normal form of texts${example}: start a run of the lens over all its data`,
  )
}
