// A signal as it begins, whoever sends it: new, with what follows from what was said, under a silence where one is over it.
import type { Call } from '../../../kernel/call.ts'
import { noted } from '../log/rules.ts'
import { silenceOver } from '../silence/over.ts'
import type { StoredSignal } from './model.ts'
import { placed } from './standing.ts'

type Following =
  | ('status' | 'subject_id' | 'source_type' | 'source_name' | 'standing' | 'subject_standing' | 'silence_id')
  | ('silence_label' | 'links' | 'owes' | 'revision' | 'untold' | 'unlogged' | 'tally')

/** What is known of it before. */
export type Said = Omit<StoredSignal, Following>

export async function begun(call: Call, said: Said): Promise<StoredSignal> {
  const { name } = said.source
  const fresh = {
    ...said,
    ...{ status: 'new' as const, subject_id: said.subject.id, source_type: said.source.type },
    ...(name === undefined ? {} : { source_name: name }),
    ...{ links: [], owes: 0 as const, revision: 0, untold: [], tally: '' },
    ...(await silenceOver(call, said)),
  }
  return noted(undefined, placed(fresh), said.created_by)
}
