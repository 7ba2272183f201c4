// Opens the chat: the model of the profile, and the tools that the gateway offers.
import { getSettings } from '../../kernel/settings/get-settings.ts'
import type { ProfileProblem } from '../../kernel/settings/profile-error.ts'
import type { ResolvedSettings } from '../../kernel/settings/settings.ts'
import { type ChatParts, chatPart } from '../../roles/gateway/chat/parts.ts'
import { chatSettings } from '../../roles/gateway/chat/settings.ts'
import { guideModelPart } from '../../roles/gateway/guide/chat/parts.ts'
import { guideSettings } from '../../roles/gateway/guide/settings.ts'
import { endpointOf, findModelProblems, openModel } from './open-model.ts'

export function findChatProblems(resolved: ResolvedSettings): ProfileProblem[] {
  return [chatSettings, guideSettings].flatMap((block) =>
    findModelProblems(resolved, endpointOf(block.name, getSettings(resolved, block))),
  )
}

export function openChat(
  resolved: ResolvedSettings,
  tools: ChatParts['tools'],
): readonly (readonly [string, unknown])[] {
  const guide = getSettings(resolved, guideSettings)
  const own = openModel(resolved, guide)
  const parts: ChatParts = { model: openModel(resolved, getSettings(resolved, chatSettings)), tools }
  return [
    [chatPart.name, parts],
    [guideModelPart.name, { own: own && { model: own, name: guide.model ?? '' } }],
  ]
}
