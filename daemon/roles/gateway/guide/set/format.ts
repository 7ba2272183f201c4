// The file of a set of artifacts between sites: canonical JSON of bounded size, with a manifest that the site signs.
import * as z from 'zod'
import { jws } from '../../../../kernel/cryptography/signatures.ts'
import { label } from '../../../../kernel/label/label.ts'
import { siteName } from '../../../../kernel/messaging/statement.ts'
import { artifactContents } from '../artifact/content.ts'
import { applicability } from '../artifact/model.ts'
import { type AttachableType, attachableTypes } from '../guidance/rules.ts'

/** Type of the signature: it stands for nothing else that the site signs. */
export const set_document_type = 'guidance-set'
const file_form = 'guidance-set/1'

export const max_set_artifacts = 500
export const max_set_bytes = 1_048_576
/** Of different labels in a set. */
export const max_set_labels = 16
/** Of one text, in characters. */
export const max_text_characters = 8_192

/** Levels, values and names that a set may have: reading it takes a bounded time. */
export const setJsonLimits = { max_depth: 32, max_values: 40_000, max_names: 1_000, max_escapes: 100_000 } as const

const narrowing = z.string().min(1).max(256)

/** Fields besides the content. Nothing of callers, traces, actors and audit records is among them. */
const carriedFields = {
  artifact_id: z.string().regex(/^artifact_[0-9a-f]{32}$/),
  version: z.int().min(1),
  as_of: z.iso.datetime(),
  service_name: narrowing.optional(),
  tool_name: narrowing.optional(),
  applicability,
  rationale: z.string().min(1).max(8_192),
  label,
  /** Model of the vector at the origin, which is not carried: vectors of different models are never compared. */
  embedded_by: narrowing.optional(),
}

/** Measured and computed at the origin: they say nothing of this site. */
const ofOrigin = { evaluator_score: true, weight: true, score_decomposition: true } as const
const vectors = { embedding_vector: true, embedding_model: true } as const

export const carriedArtifact = z.discriminatedUnion(
  'type',
  attachableTypes.map((type) => {
    const content = (artifactContents[type] as z.ZodObject).omit({ ...ofOrigin, ...vectors })
    return z.strictObject({ ...carriedFields, type: z.literal(type), content })
  }) as never,
) as unknown as z.ZodType<CarriedArtifact>

export type CarriedArtifact = z.infer<z.ZodObject<typeof carriedFields>> & {
  readonly type: AttachableType
  readonly content: Readonly<Record<string, unknown>> & { readonly confidence?: number | undefined }
}

const digest = z.string().regex(/^[0-9a-f]{64}$/)

export const setManifest = z.strictObject({
  v: z.literal(1),
  type: z.literal('platform.guidance-set'),
  from: siteName,
  tenant_id: z.string().min(1).max(128),
  to: siteName,
  made_at: z.iso.datetime(),
  /** The join of the labels of all artifacts. */
  label,
  /** SHA-256 of each artifact in canonical JSON, in the order of the file. */
  artifacts: z.array(digest).min(1).max(max_set_artifacts),
})
export type SetManifest = z.infer<typeof setManifest>

export const setFile = z.strictObject({
  artifacts: z.array(z.unknown()).min(1).max(max_set_artifacts),
  form: z.literal(file_form),
  signed: jws,
})
export type SetFile = z.infer<typeof setFile>

/** `artifacts`: each in canonical JSON. Names of members are in their order. */
export function writeSetFile(artifacts: readonly string[], signed: string): string {
  return `{"artifacts":[${artifacts.join(',')}],"form":"${file_form}","signed":${signed}}`
}
