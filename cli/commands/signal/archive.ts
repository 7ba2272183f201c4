// Dismisses a signal and marks it as archived; nothing is deleted.
import { changeCommand } from '../../program/change-command.ts'
import { text } from '../../program/params.ts'

export const definition = changeCommand({
  words: 'signal archive',
  summary: 'Dismiss a signal and mark it as archived',
  object: 'signal',
  operation: 'intelligence.signal.archive',
  options: { rationale: text('TEXT', 'Reason, stored in its history') },
  example: 'platform signal archive sig_…',
  input: ({ rationale }) => ({ rationale }),
})
