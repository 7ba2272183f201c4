// Opens a language model of the profile: of the chat, and of the guidance layer.
import { readFileSync } from 'node:fs'
import { openAiChatModel } from '../../../adapters/model/openai/chat-model.ts'
import { anyAddress } from '../../../adapters/platform/address-rule/address-rule.ts'
import { mayForwardTo } from '../../boot/forwarding/routing-problems.ts'
import { findUnreadableFile } from '../../boot/host/unreadable-file.ts'
import type { ChatModel } from '../../kernel/model/chat-model.ts'
import { getSettings } from '../../kernel/settings/get-settings.ts'
import type { ProfileProblem } from '../../kernel/settings/profile-error.ts'
import type { ResolvedSettings, SettingValues } from '../../kernel/settings/settings.ts'
import { chatSettings } from '../../roles/gateway/chat/settings.ts'
import type { guideSettings } from '../../roles/gateway/guide/settings.ts'

type ModelSettings = Pick<SettingValues<typeof guideSettings>, 'model_url' | 'model' | 'api_key' | 'ca_file'>

/** Settings that name an endpoint and a model of it: the path of each, and its value. */
export type ModelEndpoint = Readonly<
  Record<'url' | 'model' | 'ca_file', { readonly path: string; readonly value: string | undefined }>
>

export function findModelProblems(
  resolved: ResolvedSettings,
  { url, model, ca_file }: ModelEndpoint,
): ProfileProblem[] {
  const message = 'must use TLS (https) in this deployment profile, unless it is on this machine'
  return [
    ...findUnreadableFile(ca_file.path, ca_file.value),
    ...(url.value !== undefined && model.value === undefined
      ? [{ path: model.path, message: `must name a model of ${url.path}` }]
      : []),
    ...(url.value !== undefined && !mayForwardTo(resolved, url.value) ? [{ path: url.path, message }] : []),
  ]
}

/** The endpoint of a chat model in a section of the profile. */
export function endpointOf(section: string, { model_url, model, ca_file }: ModelSettings): ModelEndpoint {
  return {
    url: { path: `${section}.model_url`, value: model_url },
    model: { path: `${section}.model`, value: model },
    ca_file: { path: `${section}.ca_file`, value: ca_file },
  }
}

/** Undefined without an endpoint. The limits are those of the chat. */
export function openModel(
  resolved: ResolvedSettings,
  { model_url: url, api_key, ca_file }: ModelSettings,
): ChatModel | undefined {
  if (url === undefined) return undefined
  const { answer_s, max_answer_bytes, max_tokens } = getSettings(resolved, chatSettings)
  return openAiChatModel({
    ...{ url, api_key, max_answer_bytes, max_tokens },
    // The operator names the URL.
    rule: anyAddress,
    ca: ca_file === undefined ? undefined : readFileSync(ca_file, 'utf8'),
    answer_ms: answer_s * 1_000,
  })
}
