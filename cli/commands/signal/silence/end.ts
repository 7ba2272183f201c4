// Ends a silence before its time.
import { changeCommand } from '../../../program/change-command.ts'
import { text } from '../../../program/params.ts'

export const definition = changeCommand({
  words: 'signal silence end',
  summary: 'End a silence early; signals that it silenced keep their mark',
  object: 'silence',
  operation: 'intelligence.silence.end',
  options: { rationale: text('TEXT', 'Reason, stored with the silence') },
  example: 'platform signal silence end sil_…',
  input: ({ rationale }) => ({ rationale }),
})
