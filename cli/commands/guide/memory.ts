// Shows an observation of the guidance layer.
import { showCommand } from '../../program/show-command.ts'

export const definition = showCommand({
  words: 'guide memory',
  summary: 'Show an observation',
  object: 'memory',
  operation: 'gateway.guide.memory.get',
  example: 'platform guide memory observation_…',
})
