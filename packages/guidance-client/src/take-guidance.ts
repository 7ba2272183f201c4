// Guidance in the arguments of a tool: an agent takes it out before its own logic sees them.
import { type AttachedArtifact, type GuidanceBlock, guidance_field } from './guidance-block.ts'

export type TakenGuidance = {
  /** Null: nothing was attached, or not in the form of guidance. */
  readonly guidance: GuidanceBlock | null
  /** The arguments of the caller, without the field. */
  readonly input: Readonly<Record<string, unknown>>
}

/** Splits the arguments of a call into guidance of the gateway and those of the caller. */
export function takeGuidance(input: Readonly<Record<string, unknown>>): TakenGuidance {
  const { [guidance_field]: attached, ...rest } = input
  return { guidance: readGuidance(attached), input: rest }
}

/** Guidance in an answer or a call; null where there is none. Artifacts without the documented fields are left out. */
export function readGuidance(value: unknown): GuidanceBlock | null {
  if (!isRecord(value)) return null
  const { as_of, artifacts, rationale_summary } = value
  if (typeof as_of !== 'string' || !Array.isArray(artifacts) || typeof rationale_summary !== 'string') return null
  return { as_of, artifacts: artifacts.filter(isArtifact), rationale_summary }
}

function isArtifact(value: unknown): value is AttachedArtifact {
  if (!isRecord(value)) return false
  const { id, type, version, content, applicability, rationale } = value
  const areTexts = [id, type, rationale].every((text) => typeof text === 'string')
  return areTexts && typeof version === 'number' && isRecord(content) && isApplicability(applicability)
}

function isApplicability(value: unknown): boolean {
  if (!isRecord(value)) return false
  const { intent_class, tags } = value
  const isClass = intent_class === undefined || typeof intent_class === 'string'
  return isClass && Array.isArray(tags) && tags.every((tag) => typeof tag === 'string')
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
