// Active artifacts of the same type, service and tool that say much the same as another.
import type { Call } from '../../../../kernel/operation/call.ts'
import { iterateDocuments } from '../../../../kernel/store/iterate-documents.ts'
import { type Doc, labelKeyOf } from '../../../../kernel/store/store.ts'
import { type Artifact, artifacts } from '../artifact/model.ts'
import { guideSettings } from '../settings.ts'
import { cosine } from './rules.ts'

/** Of one answer. */
const max_similar = 20
/** Artifacts that are compared, of one scope. */
const max_compared = 10_000
/** Documents with vectors that are parsed at once: some milliseconds. */
const page_size = 20

export type SimilarArtifact = { readonly id: string; readonly version: number; readonly similarity: number }

/** Most similar first; empty where similarity is switched off, or the artifact has no vector. */
export async function findSimilarArtifacts(call: Call, { id, value }: Doc<Artifact>): Promise<SimilarArtifact[]> {
  const { similarity_enabled, similarity_threshold } = call.settings(guideSettings)
  const { embedding_vector, embedding_model } = value.content
  if (!similarity_enabled || !embedding_vector) return []
  const found: SimilarArtifact[] = []
  let compared = 0
  for await (const other of iterateDocuments(call.store(artifacts), { filter: scopeOf(value), page_size })) {
    if (compared++ >= max_compared) break
    if (compared % page_size === 0) await call.pause()
    const { content, version } = other.value
    if (other.id === id || value.supersedes.includes(other.id)) continue
    if (content.embedding_model !== embedding_model || labelKeyOf(other.value) !== labelKeyOf(value)) continue
    const similarity = cosine(embedding_vector, content.embedding_vector ?? [])
    if (similarity !== undefined && similarity >= similarity_threshold)
      found.push({ id: other.id, version, similarity: Math.min(1, Math.round(similarity * 10_000) / 10_000) })
  }
  return found.toSorted((x, y) => y.similarity - x.similarity || (x.id < y.id ? -1 : 1)).slice(0, max_similar)
}

function scopeOf({ tenant_id, type, service_name, tool_name }: Artifact) {
  return {
    ...{ tenant_id, status: 'active', type },
    service_name: service_name ?? { exists: false },
    tool_name: tool_name ?? { exists: false },
  }
}
