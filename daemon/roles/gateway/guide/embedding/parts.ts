// The part that turns text into vectors: an endpoint of the profile, or n-grams of characters.
import type { EmbeddingModel } from '../../../../kernel/model/embedding-model.ts'
import { part } from '../../../../kernel/role/part.ts'

export const embedderPart = part<EmbeddingModel>('guide-embedder')
