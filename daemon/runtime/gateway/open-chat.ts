// Opens the chat: the model of the profile, and the tools that the gateway offers.
import { readFileSync } from 'node:fs'
import { openAiChatModel } from '../../../adapters/model/openai/chat-model.ts'
import { anyAddress } from '../../../adapters/platform/address-rule/address-rule.ts'
import { mayForwardTo } from '../../boot/forwarding/routing-problems.ts'
import { findUnreadableFile } from '../../boot/host/unreadable-file.ts'
import { getSettings } from '../../kernel/settings/get-settings.ts'
import type { ProfileProblem } from '../../kernel/settings/profile-error.ts'
import type { ResolvedSettings } from '../../kernel/settings/settings.ts'
import { type ChatParts, chatPart } from '../../roles/gateway/chat/parts.ts'
import { chatSettings } from '../../roles/gateway/chat/settings.ts'

export function findChatProblems(resolved: ResolvedSettings): ProfileProblem[] {
  const { model_url, model, ca_file } = getSettings(resolved, chatSettings)
  const message = 'must use TLS (https) in this deployment profile, unless it is on this machine'
  return [
    ...findUnreadableFile('chat.ca_file', ca_file),
    ...(model_url !== undefined && model === undefined
      ? [{ path: 'chat.model', message: 'must name a model of chat.model_url' }]
      : []),
    ...(model_url !== undefined && !mayForwardTo(resolved, model_url) ? [{ path: 'chat.model_url', message }] : []),
  ]
}

export function openChat(resolved: ResolvedSettings, tools: ChatParts['tools']): readonly [string, ChatParts] {
  const {
    model_url: url,
    api_key,
    ca_file,
    answer_s,
    max_answer_bytes,
    max_tokens,
  } = getSettings(resolved, chatSettings)
  if (url === undefined) return [chatPart.name, { model: undefined, tools }]
  const model = openAiChatModel({
    ...{ url, api_key, max_answer_bytes, max_tokens },
    // The operator names the URL.
    rule: anyAddress,
    ca: ca_file === undefined ? undefined : readFileSync(ca_file, 'utf8'),
    answer_ms: answer_s * 1_000,
  })
  return [chatPart.name, { model, tools }]
}
