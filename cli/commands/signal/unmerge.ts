// Takes a merged signal out again, as it was before.
import { changeCommand } from '../../program/change-command.ts'
import { required, text } from '../../program/params.ts'

export const definition = changeCommand({
  words: 'signal unmerge',
  summary: 'take a merged signal out again, as it was before',
  notes: 'The signal that stands for it owns the merge: --if-version speaks of that one.',
  of: 'signal',
  operation: 'intelligence.signal.unmerge',
  options: { rationale: required(text('TEXT', 'why; part of both histories')) },
  example: 'platform signal unmerge sig_… --rationale "two ships after all"',
  input: ({ rationale }) => ({ rationale }),
})
