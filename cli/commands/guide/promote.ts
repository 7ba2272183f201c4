// Promotes an artifact of guidance.
import { groundOptions, toGround } from '../../options/guide-options.ts'
import { changeCommand } from '../../program/change-command.ts'
import { nameList } from '../../program/params.ts'

export const definition = changeCommand({
  words: 'guide promote',
  summary: 'Promote an artifact, so that it is attached, or counts for more',
  notes: 'Prints active artifacts that are much alike; name those that it replaces with --supersede.',
  object: 'artifact',
  operation: 'gateway.guide.artifact.promote',
  options: {
    supersede: nameList('ARTIFACT,...', 'IDs of artifacts that it replaces, and that are demoted'),
    ...groundOptions,
  },
  example: 'platform guide promote artifact_… --reason "it helps"',
  input: ({ supersede, ...ground }) => ({
    ...(supersede.length > 0 ? { supersede: true, supersedes: supersede } : {}),
    ...toGround(ground),
  }),
})
