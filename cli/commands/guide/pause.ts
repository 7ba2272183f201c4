// Pauses the curator of guidance.
import { curatorCommand } from '../../program/guide-command.ts'

export const definition = curatorCommand({
  words: 'guide pause',
  summary: 'Pause the curator: artifacts change by administrators alone, and stay attached',
  operation: 'gateway.guide.curator.pause',
  done: () => 'the curator is paused',
  example: 'platform guide pause --reason "an exercise"',
})
