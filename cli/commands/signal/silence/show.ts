// Shows a silence and the number of signals that it silenced.
import { showCommand } from '../../../program/show-command.ts'

export const definition = showCommand({
  words: 'signal silence show',
  summary: 'Show a silence and the number of signals it silenced',
  object: 'silence',
  operation: 'intelligence.silence.get',
  example: 'platform signal silence show sil_…',
})
