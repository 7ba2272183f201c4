// Merges duplicates into one signal.
import { changeCommand } from '../../program/change-command.ts'
import { nameList, required, text } from '../../program/params.ts'

export const definition = changeCommand({
  words: 'signal merge',
  summary: 'merge duplicates into a signal, which stands for them from then on',
  notes: 'Their links, related signals and labels are joined on it. signal unmerge takes one out again, as it was.',
  of: 'signal',
  operation: 'intelligence.signal.merge',
  options: {
    from: required(nameList('SIGNAL,...', 'the duplicates')),
    rationale: required(text('TEXT', 'why; part of their histories')),
  },
  example: 'platform signal merge sig_… --from sig_…,sig_… --rationale "one and the same"',
  input: ({ from: signal_ids, rationale }) => ({ signal_ids, rationale }),
})
