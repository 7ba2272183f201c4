// Opens the model of the embeddings of artifacts: at an endpoint, or the local one.
import { readFileSync } from 'node:fs'
import { openAiEmbeddingModel } from '../../../adapters/model/openai/embedding-model.ts'
import { anyAddress } from '../../../adapters/platform/address-rule/address-rule.ts'
import type { EmbeddingModel } from '../../kernel/model/embedding-model.ts'
import { getSettings } from '../../kernel/settings/get-settings.ts'
import type { ProfileProblem } from '../../kernel/settings/profile-error.ts'
import type { ResolvedSettings } from '../../kernel/settings/settings.ts'
import { embedLocally, local_model_name } from '../../roles/gateway/guide/embedding/embed-locally.ts'
import { embedderPart } from '../../roles/gateway/guide/embedding/parts.ts'
import { guideSettings } from '../../roles/gateway/guide/settings.ts'
import { findModelProblems } from './open-model.ts'

export function findEmbedderProblems(resolved: ResolvedSettings): ProfileProblem[] {
  const { embedding_url, embedding_model, embedding_ca_file } = getSettings(resolved, guideSettings)
  const endpoint = {
    url: { path: 'guide.embedding_url', value: embedding_url },
    model: { path: 'guide.embedding_model', value: embedding_model },
    ca_file: { path: 'guide.embedding_ca_file', value: embedding_ca_file },
  }
  const message = `must not be ${local_model_name}, which is made without a model`
  return [
    ...findModelProblems(resolved, endpoint),
    ...(embedding_model === local_model_name ? [{ path: endpoint.model.path, message }] : []),
  ]
}

export function openEmbedder(resolved: ResolvedSettings): readonly [string, unknown] {
  return [embedderPart.name, openModel(resolved)]
}

function openModel(resolved: ResolvedSettings): EmbeddingModel {
  const {
    embedding_url: url,
    embedding_model: model,
    embedding_api_key: api_key,
    embedding_ca_file: ca_file,
    embedding_timeout_s,
  } = getSettings(resolved, guideSettings)
  if (url === undefined || model === undefined)
    return { name: local_model_name, embed: async ({ text }) => embedLocally(text) }
  return openAiEmbeddingModel({
    ...{ url, model, api_key, timeout_ms: embedding_timeout_s * 1_000 },
    // The operator names the URL.
    rule: anyAddress,
    ca: ca_file === undefined ? undefined : readFileSync(ca_file, 'utf8'),
  })
}
