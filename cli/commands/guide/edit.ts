// Edits the metadata of an artifact of guidance.
import { groundOptions, toGround } from '../../options/guide-options.ts'
import { changeCommand } from '../../program/change-command.ts'
import { CommandFailure } from '../../program/command.ts'
import { flag, nameList, text } from '../../program/params.ts'

export const definition = changeCommand({
  words: 'guide edit',
  summary: 'Edit tags, intent class and notes of an artifact, as a new version',
  notes: 'Options that are absent stay as they are.',
  object: 'artifact',
  operation: 'gateway.guide.artifact.edit',
  options: {
    tags: nameList('TAG,...', 'Replace its tags'),
    intent: text('CLASS', 'Apply it to this class of intents alone'),
    anyIntent: flag('Apply it to every intent'),
    notes: text('TEXT', 'Replace its notes'),
    ...groundOptions,
  },
  example: 'platform guide edit artifact_… --tags maps,reviewed --reason "checked by hand"',
  input({ tags, intent, anyIntent, notes, ...ground }) {
    if (intent !== undefined && anyIntent)
      throw new CommandFailure(2, '--intent and --any-intent cannot be combined: pass one of them')
    return {
      ...(tags.length > 0 ? { tags } : {}),
      ...(intent === undefined ? {} : { intent_class: intent }),
      ...(anyIntent ? { intent_class: null } : {}),
      ...{ notes, ...toGround(ground) },
    }
  },
})
