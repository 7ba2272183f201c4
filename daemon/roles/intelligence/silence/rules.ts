// Pure rules of silences: the time span, and which signals match.
import { type Refusal, refuse } from '../../../kernel/error/errors.ts'
import { dominates, type LabelPolicy } from '../../../kernel/label/label.ts'
import type { StoredSignal } from '../signal/model.ts'
import type { AttributedAction } from '../signal/rules.ts'
import type { SilenceMatchers, SilenceState, StoredSilence } from './model.ts'

type SilenceSpan = Pick<StoredSilence, 'starts_ts' | 'until_ts'>

/** The start is included, the end is not. */
export function stateAt({ starts_ts, until_ts }: SilenceSpan, now_ms: number): SilenceState {
  if (until_ts <= now_ms) return 'ended'
  return starts_ts <= now_ms ? 'active' : 'pending'
}

type MatchableSignal = Pick<StoredSignal, 'signal_type' | 'severity' | 'subject' | 'source'>

export function matches(
  matchers: SilenceMatchers,
  { signal_type, severity, subject, source }: MatchableSignal,
): boolean {
  const values: Readonly<Record<keyof SilenceMatchers, string | undefined>> = {
    ...{ signal_type, severity, subject_type: subject.type, subject_id: subject.id },
    ...{ source_type: source.type, source_name: source.name },
  }
  const names = Object.keys(matchers) as (keyof SilenceMatchers)[]
  return names.every((name) => matchers[name]?.some((pattern) => matchesPattern(pattern, values[name])) ?? true)
}

function matchesPattern(pattern: string, value: string | undefined): boolean {
  if (value === undefined) return false
  return pattern.endsWith('*') ? value.startsWith(pattern.slice(0, -1)) : value === pattern
}

/** Whether the silence applies: the signal matches, and its creator is cleared for the signal. */
export function isSilencing(
  { matchers, clearance, tenant_id }: Pick<StoredSilence, 'matchers' | 'clearance' | 'tenant_id'>,
  signal: MatchableSignal & Pick<StoredSignal, 'tenant_id' | 'label'>,
  policy: LabelPolicy,
): boolean {
  if (tenant_id !== signal.tenant_id || !matches(matchers, signal)) return false
  return dominates({ clearance, tenant_id }, signal.label, policy)
}

const day_ms = 86_400_000

/** Start and end in epoch milliseconds. Refuses an end that is past, before the start, or too far after it. */
export function resolveSpan(
  span: { readonly starts_at?: string | undefined; readonly ends_at: string },
  now_ms: number,
  max_days: number,
): SilenceSpan | Refusal {
  const until_ts = Date.parse(span.ends_at)
  // A start in the past becomes now.
  const starts_ts = Math.max(now_ms, span.starts_at === undefined ? now_ms : Date.parse(span.starts_at))
  const refuseSpan = (path: string, message: string) =>
    refuse('invalid', 'the span of the silence is invalid', [{ path, message }])
  if (!(until_ts > starts_ts)) return refuseSpan('ends_at', 'must be after its start, and after now')
  if (until_ts - starts_ts > max_days * day_ms)
    return refuseSpan('ends_at', `must be at most ${max_days} days after its start`)
  if (starts_ts - now_ms > max_days * day_ms) return refuseSpan('starts_at', `must be at most ${max_days} days ahead`)
  return { starts_ts, until_ts }
}

/** Refuses `wrong_state` for an ended silence. Silenced signals stay marked. */
export function endSilence(
  current: StoredSilence,
  { by, at, rationale }: AttributedAction,
  now_ms: number,
): StoredSilence | Refusal {
  if (stateAt(current, now_ms) === 'ended') return refuse('wrong_state', 'the silence has ended')
  const reasonFields = rationale === undefined ? {} : { ended_because: rationale }
  return { ...current, updated_at: at, until_ts: now_ms, ended_at: at, ended_by: by, ...reasonFields }
}
