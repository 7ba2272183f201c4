// Closes an insight whose signals are all resolved or dismissed.
import { changeCommand } from '../../program/change-command.ts'
import { required, text } from '../../program/params.ts'

export const definition = changeCommand({
  words: 'insight close',
  summary: 'Close an insight whose signals are all resolved or dismissed',
  object: 'insight',
  operation: 'intelligence.insight.close',
  options: { rationale: required(text('TEXT', 'Reason, stored in its ledger')) },
  example: 'platform insight close ins_… --rationale "three buoys"',
  input: ({ rationale }) => ({ rationale }),
})
