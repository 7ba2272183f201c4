// Rolls an artifact of guidance back.
import { groundOptions, toGround } from '../../options/guide-options.ts'
import { changeCommand } from '../../program/change-command.ts'
import { integer, required } from '../../program/params.ts'

export const definition = changeCommand({
  words: 'guide rollback',
  summary: 'Roll an artifact back to an earlier version, as a new version',
  notes: '"platform guide show" lists the versions.',
  object: 'artifact',
  operation: 'gateway.guide.artifact.rollback',
  options: { to: required(integer('VERSION', 'Version to roll back to', 1)), ...groundOptions },
  example: 'platform guide rollback artifact_… --to 2 --reason "the edit was wrong"',
  input: ({ to, ...ground }) => ({ version: to, ...toGround(ground) }),
})
