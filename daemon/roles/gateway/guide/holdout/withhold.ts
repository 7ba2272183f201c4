// Takes out of a set of guidance what this trace goes without, so that its effect can be measured.
import type { Call } from '../../../../kernel/operation/call.ts'
import type { GuidanceSet } from '../guidance/artifact-index.ts'
import { type IndexedArtifact, summariseSelection } from '../guidance/rules.ts'
import { learningPart } from '../learning/parts.ts'
import { guideSettings } from '../settings.ts'
import { isHeldOut, shareHeldOut } from './is-held-out.ts'

/**
 * Of mined artifacts alone: what an administrator has decided on is always attached. The front end gets its set with the response,
 * after all that happened in the trace, so that a trace says nothing of it.
 */
export function withhold(call: Call, set: GuidanceSet): GuidanceSet {
  const { block, reader } = set
  if (block === null || reader.scope === 'l1' || !call.settings(guideSettings).holdout_enabled) return set
  const { assessments } = call.part(learningPart)
  const isOut = ({ id, isMined }: IndexedArtifact) => {
    if (!isMined) return false
    const { attached, held_out } = assessments.get(id) ?? {}
    const eligible = (attached?.trials ?? 0) + (held_out?.trials ?? 0)
    return isHeldOut(call.trace.trace_id, id, shareHeldOut(eligible))
  }
  const held_out = set.attached.filter(isOut)
  if (held_out.length === 0) return set
  const attached = set.attached.filter((artifact) => !held_out.includes(artifact))
  const withheld = { ...set, attached, held_out }
  if (attached.length === 0) return { ...withheld, block: null, bytes: 0 }
  const ids = new Set(attached.map(({ id }) => id))
  const artifacts = block.artifacts.filter(({ id }) => ids.has(id))
  const rest = { ...block, artifacts, rationale_summary: summariseSelection(withheld) }
  return { ...withheld, block: rest, bytes: Buffer.byteLength(JSON.stringify(rest)) }
}
