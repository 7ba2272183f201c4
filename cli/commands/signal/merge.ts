// Merges duplicates into one signal.
import { changeCommand } from '../../program/change-command.ts'
import { nameList, required, text } from '../../program/params.ts'

export const definition = changeCommand({
  words: 'signal merge',
  summary: 'Merge duplicates into a signal, which represents them from then on',
  notes:
    'The signal takes over their links and related signals, and its label becomes the join of all labels. Undo: signal unmerge.',
  object: 'signal',
  operation: 'intelligence.signal.merge',
  options: {
    from: required(nameList('SIGNAL,...', 'IDs of the duplicates')),
    rationale: required(text('TEXT', 'Reason, stored in the history of each')),
  },
  example: 'platform signal merge sig_… --from sig_…,sig_… --rationale "one and the same"',
  input: ({ from: signal_ids, rationale }) => ({ signal_ids, rationale }),
})
