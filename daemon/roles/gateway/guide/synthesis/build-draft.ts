// Builds the draft of an artifact from the claim of a model and the figures of the gateway.
import { canonicalJson } from '../../../../kernel/encoding/canonical-json.ts'
import { escapeLine } from '../../../../kernel/text/escape-line.ts'
import { type ArtifactType, artifactContents } from '../artifact/content.ts'
import { type Artifact, applicability } from '../artifact/model.ts'
import type { MinedArtifact } from '../learning/mined-artifact.ts'
import { quoteModel } from './commit-context.ts'
import type { ProposalEvidence } from './measure-proposal.ts'

/** As a model makes it: what it says, without the figures behind it. */
export type ArtifactClaim = {
  readonly type: ArtifactType
  readonly content: Readonly<Record<string, unknown>>
  readonly intent_class?: string | undefined
  readonly rationale: string
}

const figureNames: ReadonlySet<string> = new Set(['support', 'success_rate', 'failure_rate', 'baseline_rate'])
/** Prose of a model: two claims that differ in it alone are one. */
const proseNames: ReadonlySet<string> = new Set(['hint', 'advice', 'error', 'words', 'confidence'])

/** Undefined where it is not a content of its type. Figures that the traces do not show are 0. */
export function buildDraft(claim: ArtifactClaim, evidence: ProposalEvidence | undefined): MinedArtifact | undefined {
  const { type, content, intent_class, rationale } = claim
  const figures = Object.keys(artifactContents[type].shape).filter((name) => figureNames.has(name))
  const cleaned = cleanTexts(content) as Readonly<Record<string, unknown>>
  const whole = { ...cleaned, ...Object.fromEntries(figures.map((name) => [name, 0])), ...evidence?.content }
  const parsed = artifactContents[type].safeParse(whole)
  const ofIntent = intent_class ?? whole.intent_class
  const narrowing = typeof ofIntent === 'string' ? { intent_class: escapeLine(ofIntent) } : {}
  const fitting = applicability.safeParse({ ...narrowing, tags: [] })
  if (!parsed.success || !fitting.success) return undefined
  const { service_name, tool_name, trace_ids = [] } = evidence ?? {}
  const draft = {
    ...{
      type,
      content: parsed.data,
      applicability: fitting.data,
      rationale: quoteModel(rationale),
      trace_ids: [...trace_ids],
    },
    ...(service_name === undefined ? {} : { service_name }),
    ...(tool_name === undefined ? {} : { tool_name }),
  } as unknown as Omit<MinedArtifact, 'key'>
  return { ...draft, key: `model ${nameClaim(draft)}` } as MinedArtifact
}

export function isSameClaim(one: Pick<Artifact, 'type' | 'content' | 'applicability'>, other: MinedArtifact): boolean {
  return one.type === other.type && nameClaim(one) === nameClaim(other)
}

function nameClaim({ content, applicability: { intent_class } }: Pick<Artifact, 'content' | 'applicability'>) {
  const ranking = new Set(['evaluator_score', 'weight', 'score_decomposition', 'embedding_vector', 'embedding_model'])
  const said = Object.entries(content).filter(
    ([name]) => !figureNames.has(name) && !proseNames.has(name) && !ranking.has(name),
  )
  return canonicalJson([intent_class ?? null, Object.fromEntries(said)])
}

/** All texts of a claim, which may repeat what a person wrote. */
export function listTexts({ content, rationale }: Pick<ArtifactClaim, 'content' | 'rationale'>): string[] {
  const texts: string[] = [rationale]
  const collect = (value: unknown): void => {
    if (typeof value === 'string') texts.push(value)
    else if (typeof value === 'object' && value !== null) Object.values(value).forEach(collect)
  }
  collect(content)
  return texts
}

function cleanTexts(value: unknown): unknown {
  if (typeof value === 'string') return escapeLine(value)
  if (Array.isArray(value)) return value.map(cleanTexts)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, cleanTexts(each)]))
}
