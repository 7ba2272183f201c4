// Acknowledges a new signal.
import { changeCommand } from '../../program/change-command.ts'
import { text } from '../../program/params.ts'

export const definition = changeCommand({
  words: 'signal acknowledge',
  summary: 'Acknowledge a new signal',
  object: 'signal',
  operation: 'intelligence.signal.acknowledge',
  options: { note: text('TEXT', 'Note on the acknowledgement') },
  example: 'platform signal acknowledge sig_… --note "on it"',
  input: ({ note }) => ({ note }),
})
