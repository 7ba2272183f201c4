// An artifact as it leaves the site: what was learnt, without anything of callers, traces and secrets.
import type { Label } from '../../../../kernel/label/label.ts'
import { redactText } from '../../../../kernel/secret/redact-text.ts'
import type { Doc } from '../../../../kernel/store/store.ts'
import { collectTexts } from '../../guardrail/collect-texts.ts'
import { hiddenText } from '../../service-tool/findings.ts'
import type { Artifact } from '../artifact/model.ts'
import { attachableTypes } from '../guidance/rules.ts'
import { type CarriedArtifact, carriedArtifact, max_text_characters } from './format.ts'

/** Why an artifact stays: a changed content would claim something that nobody has learnt. */
export type StayReason = 'internal_type' | 'personal_text' | 'hidden_text' | 'unreadable' | 'label' | 'too_many'

const removed_text = '[removed]'

/** Ids of traces, of documents of the layer and of conversations; addresses of e-mail. Each takes linear time. */
const identifierPatterns = [
  /(?<![0-9a-z])(?:[a-z]{3,16}_)?[0-9a-f]{32}(?:\.[0-9]{1,9})?(?![0-9a-z])/gi,
  /(?<![0-9a-f])[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}(?![0-9a-f])/gi,
  /(?<![\w.+-])[\w.+-]{1,64}@[\w-]{1,63}(?:\.[\w-]{1,63}){0,8}/g,
] as const

/** Shorter names are words of the language too often. */
const least_name_characters = 3
/** Characters of names of users: a name counts where it stands as a word. */
const wordPattern = /[\p{L}\p{N}_.@-]+/gu

/** Names of users in lower case, as `cleanText` compares them. */
export function collectNames(subjects: Iterable<string>): ReadonlySet<string> {
  const names = [...subjects].map((subject) => subject.toLowerCase())
  return new Set(names.filter((name) => name.length >= least_name_characters && !isPartyOfLayer(name)))
}

/** The parties of the layer itself, and words that its own sentences have. */
const ownParties: ReadonlySet<string> = new Set(['curator_auto', 'evaluator_auto', 'gateway', 'admin', 'operator'])
const isPartyOfLayer = (name: string) => ownParties.has(name)

/** The text without names of users, identifiers and secrets. */
export function cleanText(text: string, names: ReadonlySet<string>): string {
  const redacted = identifierPatterns.reduce((rest, pattern) => rest.replace(pattern, removed_text), redactText(text))
  return redacted.replaceAll(wordPattern, (word) => (isName(word, names) ? removed_text : word))
}

/** A dot or a dash may be the end of the sentence. */
function isName(word: string, names: ReadonlySet<string>): boolean {
  const lower = word.toLowerCase()
  return names.has(lower) || names.has(lower.replaceAll(/^[.@-]+|[.@-]+$/g, ''))
}

/**
 * The artifact with its rationale cleaned, or why it stays. Its content, its place and its tags are compared and found
 * by other sites: where one of them holds such text, the artifact stays as a whole.
 */
export function carryArtifact(
  { id, value }: Doc<Artifact>,
  label: Label,
  names: ReadonlySet<string>,
): CarriedArtifact | StayReason {
  if (!(attachableTypes as readonly string[]).includes(value.type)) return 'internal_type'
  const { evaluator_score: _, weight: __, score_decomposition: ___, ...measured } = value.content
  const { embedding_vector: ____, embedding_model, ...content } = measured
  const { type, version, service_name, tool_name, applicability, as_of } = value
  const place = {
    ...(service_name === undefined ? {} : { service_name }),
    ...(tool_name === undefined ? {} : { tool_name }),
  }
  const texts = collectTexts({ content, applicability, ...place })
  if (texts.some((text) => text.length > max_text_characters)) return 'unreadable'
  if (texts.some((text) => cleanText(text, names) !== text)) return 'personal_text'
  const rationale = cleanText(value.rationale, names)
  if ([...texts, rationale].some((text) => hiddenText.test(text))) return 'hidden_text'
  const carried = {
    ...{
      artifact_id: id,
      type,
      version,
      as_of: new Date(as_of).toISOString(),
      applicability,
      content,
      label,
      rationale,
    },
    ...place,
    ...(embedding_model === undefined ? {} : { embedded_by: embedding_model }),
  }
  return carriedArtifact.safeParse(carried).data ?? 'unreadable'
}
