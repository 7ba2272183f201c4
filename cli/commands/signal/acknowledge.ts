// Says that somebody has seen a signal.
import { changeCommand } from '../../program/change-command.ts'
import { text } from '../../program/params.ts'

export const definition = changeCommand({
  words: 'signal acknowledge',
  summary: 'acknowledge a new signal',
  of: 'signal',
  operation: 'intelligence.signal.acknowledge',
  options: { note: text('TEXT', 'a word on it') },
  example: 'platform signal acknowledge sig_… --note "on it"',
  input: ({ note }) => ({ note }),
})
