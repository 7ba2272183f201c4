// Closes an insight whose signals are all dealt with.
import { changeCommand } from '../../change-command.ts'
import { needed, text } from '../../params.ts'

export const definition = changeCommand({
  words: 'insight close',
  summary: 'close an insight whose signals are all resolved or dismissed',
  of: 'insight',
  asks: 'intelligence.insight.close',
  options: { rationale: needed(text('TEXT', 'why; part of its ledger')) },
  example: 'platform insight close ins_… --rationale "three buoys"',
  input: ({ rationale }) => ({ rationale }),
})
