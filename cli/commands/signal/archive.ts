// Puts a signal away; nothing is deleted.
import { changeCommand } from '../../program/change-command.ts'
import { text } from '../../program/params.ts'

export const definition = changeCommand({
  words: 'signal archive',
  summary: 'dismiss a signal and mark it as archived',
  of: 'signal',
  operation: 'intelligence.signal.archive',
  options: { rationale: text('TEXT', 'why; part of its history') },
  example: 'platform signal archive sig_…',
  input: ({ rationale }) => ({ rationale }),
})
