// Resumes the curator of guidance.
import { curatorCommand } from '../../program/guide-command.ts'

export const definition = curatorCommand({
  words: 'guide resume',
  summary: 'Resume the curator, so that it changes artifacts again',
  operation: 'gateway.guide.curator.resume',
  done: () => 'the curator changes artifacts again',
  example: 'platform guide resume --reason "the exercise is over"',
})
