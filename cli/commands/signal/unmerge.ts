// Undoes the merge of a signal.
import { changeCommand } from '../../program/change-command.ts'
import { required, text } from '../../program/params.ts'

export const definition = changeCommand({
  words: 'signal unmerge',
  summary: 'Undo the merge of a signal; it becomes what it was before',
  notes: '--if-version is the version of the surviving signal, which owns the merge.',
  object: 'signal',
  operation: 'intelligence.signal.unmerge',
  options: { rationale: required(text('TEXT', 'Reason, stored in both histories')) },
  example: 'platform signal unmerge sig_… --rationale "two ships after all"',
  input: ({ rationale }) => ({ rationale }),
})
