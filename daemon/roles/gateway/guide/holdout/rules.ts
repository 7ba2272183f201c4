// Pure rules of counting: each trace counts once for an artifact, however often it is read, with its last outcome.
import { sha256 } from '../../../../kernel/encoding/canonical-json.ts'
import { max_counted, type StoredArtifactEffect } from './model.ts'

export type CountedOutcome = {
  readonly trace_id: string
  readonly isAttached: boolean
  readonly isSuccess: boolean
  readonly hasFeedback: boolean
}

/** Twelve digits of the digest of the trace, then its side, outcome and feedback. */
export function countedTrace({ trace_id, isAttached, isSuccess, hasFeedback }: CountedOutcome): string {
  return `${sha256(trace_id).slice(0, 12)}${isAttached ? 'a' : 'h'}${isSuccess ? '+' : '-'}${hasFeedback ? 'f' : ''}`
}

type EffectCounts = Pick<StoredArtifactEffect, 'attached' | 'held_out' | 'callers' | 'counted'>

/** As the trace was counted before; `mark`: by its lineage. Undefined: it was not. */
export function findCounted({ counted }: EffectCounts, trace: string, mark: string | undefined): string | undefined {
  const isOfTrace = (each: string | undefined) => each?.startsWith(trace.slice(0, 12))
  return counted.find(isOfTrace) ?? (isOfTrace(mark) ? mark : undefined)
}

/** Without a trace that was counted before. */
export function withoutCounted<E extends EffectCounts>(effect: E, before: string | undefined, caller: string): E {
  if (before === undefined) return effect
  const side = before[12] === 'a' ? 'attached' : 'held_out'
  const take = ({ successes, trials }: EffectCounts['attached']) => ({
    successes: Math.max(0, successes - Number(before[13] === '+')),
    trials: Math.max(0, trials - 1),
  })
  const callers = effect.callers.map((of) => (of.caller === caller ? { ...of, [side]: take(of[side]) } : of))
  return { ...effect, callers, [side]: take(effect[side]), counted: effect.counted.filter((each) => each !== before) }
}

export function addCounted(counted: readonly string[], trace: string): string[] {
  return [...counted, trace].slice(-max_counted)
}
