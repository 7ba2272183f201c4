// Builds the first state of a signal: new, with derived fields, and silenced if an active silence matches.
import type { Call } from '../../../kernel/operation/call.ts'
import { recordChanges } from '../change-log/rules.ts'
import { findActiveSilence } from '../silence/find-active-silence.ts'
import type { StoredSignal } from './model.ts'
import { withVisibility } from './visibility.ts'

type DerivedSignalField =
  | ('status' | 'subject_id' | 'source_type' | 'source_name' | 'visibility' | 'subject_visibility' | 'silence_id')
  | ('silence_label' | 'links' | 'owes' | 'revision' | 'untold' | 'unlogged' | 'tally')

/** The fields that the caller sets. */
export type NewSignalFields = Omit<StoredSignal, DerivedSignalField>

export async function buildSignal(call: Call, fields: NewSignalFields): Promise<StoredSignal> {
  const { name } = fields.source
  const fresh = {
    ...fields,
    ...{ status: 'new' as const, subject_id: fields.subject.id, source_type: fields.source.type },
    ...(name === undefined ? {} : { source_name: name }),
    ...{ links: [], owes: 0 as const, revision: 0, untold: [], tally: '' },
    ...(await findActiveSilence(call, fields)),
  }
  return recordChanges(undefined, withVisibility(fresh), fields.created_by)
}
