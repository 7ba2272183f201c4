// Attaches guidance to a response or a call: within its budget of time, and never at the cost of what it is attached to.
import type { Call } from '../../../../kernel/operation/call.ts'
import { chatPart } from '../../chat/parts.ts'
import { lowerLevel } from '../../chat/rules.ts'
import { withhold } from '../holdout/withhold.ts'
import { guideSettings } from '../settings.ts'
import { guideCountsPart } from '../stats/guide-counts.ts'
import { isGeneratingIntent } from '../workflow/intents.ts'
import type { GuidanceReader, GuidanceSet } from './artifact-index.ts'
import {
  attachArtifactCount,
  attachCappedTotal,
  attachNullTotal,
  attachPayloadBytes,
  attachSuccessTotal,
  lineageDroppedTotal,
  type nullReasons,
} from './metrics.ts'
import type { GuidanceScope, StoredGuidance } from './model.ts'
import { guidancePart } from './parts.ts'
import { keepService } from './usable-tools.ts'

export type AttachTerms = {
  readonly scope: GuidanceScope
  /** Highest level of data that a guardrail lets the subscriber see. */
  readonly ceiling?: string | undefined
  /** Set for an agent that gets no token of its caller: the only service whose tools it can use. */
  readonly only_service?: string | undefined
  /** The class of the intent at hand; without effect unless it is to make or change a workflow. */
  readonly intent?: string | undefined
}

/** Null: nothing is attached. Never throws, never waits. */
export function attachGuidance(call: Call, terms: AttachTerms): StoredGuidance | null {
  const { scope } = terms
  const begun = call.monotonic()
  const found = findSet(call, terms)
  const reason = typeof found === 'string' ? found : found.block ? undefined : 'empty'
  const took_ms = call.monotonic() - begun
  call.part(guideCountsPart).addAttach(call.caller.tenant_id, scope, reason ?? 'attached', took_ms)
  if (typeof found === 'string') {
    call.count(attachNullTotal, { scope, reason: found })
    return null
  }
  for (const [artifact_type, count] of found.cappedCounts)
    call.count(attachCappedTotal, { scope, artifact_type }, count)
  recordLineage(call, found)
  if (!found.block) {
    call.count(attachNullTotal, { scope, reason: 'empty' })
    return null
  }
  call.count(attachSuccessTotal, { scope })
  call.observe(attachPayloadBytes, { scope }, found.bytes)
  call.observe(attachArtifactCount, { scope }, found.attached.length)
  return found.block
}

function findSet(call: Call, terms: AttachTerms): GuidanceSet | (typeof nullReasons)[number] {
  const { enabled, guidance_attach_enabled, guidance_attach_timeout_ms } = call.settings(guideSettings)
  if (!enabled || !guidance_attach_enabled) return 'disabled'
  const begun = call.monotonic()
  const isLate = () => call.monotonic() - begun > guidance_attach_timeout_ms
  try {
    const { index } = call.part(guidancePart)
    if (!index.isLoaded) return 'unavailable'
    const set = index.find(readerOf(call, terms), isLate)
    return set && !isLate() ? withhold(call, set) : 'timeout'
  } catch (error) {
    const { trace_id } = call.trace
    call.log.warn('gateway.guide.attach_failed', { trace_id, scope: terms.scope, reason: String(error) })
    return 'error'
  }
}

export function readerOf(call: Call, { scope, ceiling, only_service, intent }: AttachTerms): GuidanceReader {
  const { tenant_id, clearance, permissions } = call.caller
  const { levels } = call.site.labels
  const usable = call.part(guidancePart).catalogues.findUsable(call.part(chatPart).tools(), permissions)
  const level = lowerLevel(levels, clearance?.level ?? levels[0], ceiling)
  const lowered = clearance && level !== undefined ? { ...clearance, level } : clearance
  return {
    scope,
    viewer: { tenant_id, clearance: lowered },
    usable: only_service === undefined ? usable : keepService(usable, only_service),
    ...(intent !== undefined && isGeneratingIntent({ intent_class: intent }) ? { intent } : {}),
  }
}

function recordLineage(call: Call, selection: GuidanceSet): void {
  const { lineage_persist_enabled } = call.settings(guideSettings)
  if (
    !lineage_persist_enabled ||
    selection.attached.length + selection.capped.length + (selection.held_out?.length ?? 0) === 0
  )
    return
  const { lineage } = call.part(guidancePart)
  const { scope } = selection.reader
  const { trace_id } = call.trace
  const lost = lineage.add({ selection, scope, trace_id, subject: call.caller.subject, at: call.now() })
  if (lost > 0) call.count(lineageDroppedTotal, { reason: 'queue_full' }, lost)
  else if (lineage.size === 1) call.wake('write-lineage')
}
