// Demotes an artifact of guidance.
import { groundOptions, toGround } from '../../options/guide-options.ts'
import { changeCommand } from '../../program/change-command.ts'

export const definition = changeCommand({
  words: 'guide demote',
  summary: 'Demote an artifact, so that it is not attached any more',
  object: 'artifact',
  operation: 'gateway.guide.artifact.demote',
  options: { ...groundOptions },
  example: 'platform guide demote artifact_… --reason "it misleads"',
  input: toGround,
})
