// Forgets a demoted or proposed artifact of guidance.
import { groundOptions, toGround } from '../../options/guide-options.ts'
import { changeCommand } from '../../program/change-command.ts'

export const definition = changeCommand({
  words: 'guide forget',
  summary: 'Forget a demoted or proposed artifact; a rollback brings it back',
  object: 'artifact',
  operation: 'gateway.guide.artifact.forget',
  options: { ...groundOptions },
  example: 'platform guide forget artifact_… --reason "it is obsolete"',
  input: toGround,
})
