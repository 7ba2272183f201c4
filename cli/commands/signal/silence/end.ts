// Ends a silence before its time.
import { changeCommand } from '../../../program/change-command.ts'
import { text } from '../../../program/params.ts'

export const definition = changeCommand({
  words: 'signal silence end',
  summary: 'end a silence before its time; what came under it stays marked',
  of: 'silence',
  operation: 'intelligence.silence.end',
  options: { rationale: text('TEXT', 'why; kept with it') },
  example: 'platform signal silence end sil_…',
  input: ({ rationale }) => ({ rationale }),
})
