// Takes out of a set of guidance what this trace goes without, so that its effect can be measured.
import type { Call } from '../../../../kernel/operation/call.ts'
import type { GuidanceSet } from '../guidance/artifact-index.ts'
import { type IndexedArtifact, summariseSelection } from '../guidance/rules.ts'
import { learningPart } from '../learning/parts.ts'
import { guideSettings } from '../settings.ts'
import { isHeldOut, shareHeldOut } from './is-held-out.ts'

/** Whether an artifact was learnt, seeded or imported, its effect is measured: nobody knows before whether it helps here. */
export function withhold(call: Call, set: GuidanceSet): GuidanceSet {
  const { block } = set
  const { holdout_enabled, holdout_first_share: first, holdout_share: later } = call.settings(guideSettings)
  if (block === null || !holdout_enabled) return set
  const { holdout } = call.part(learningPart)
  const { key } = holdout
  if (!key) return set
  const isOut = ({ id }: IndexedArtifact) => {
    const share = shareHeldOut(holdout.countEligible(id), { first, later })
    return isHeldOut(key, call.trace.trace_id, id, share)
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
