// The decision of guardrails about a call: a refusal, or the limits under which it goes on. The caller of these rules counts rates.

import { decodeEscapes } from '../../../kernel/text/decode-escapes.ts'
import { matchesPattern } from '../../../kernel/text/name-pattern.ts'
import type { TextSearch } from '../../../kernel/text/text-search.ts'
import { object_prefixes } from '../../../shared/routing/routed-services.ts'
import type { CallKind, GuardedCall, Guardrail } from './model.ts'

export type CompiledGuardrail = Guardrail & { readonly searches: readonly TextSearch[] }

export type GuardrailSet = {
  readonly guardrails: readonly CompiledGuardrail[]
  /** Levels of the labelling policy, lowest first. */
  readonly levels: readonly string[]
}

/** Why a call is refused. `too_much_text`: more than is searched for expressions. */
export type GuardrailReason = 'denied' | 'too_large' | 'too_much_text' | 'pattern' | 'label' | 'rate' | 'quota'

export type GuardrailDenial = { readonly guardrail: string; readonly reason: GuardrailReason }

export const countedReasons = ['rate', 'quota'] as const

/** A count that must not exceed `limit` in its window. */
export type GuardrailCount = {
  readonly guardrail: string
  readonly reason: (typeof countedReasons)[number]
  readonly limit: number
  readonly window_ms: number
}

/** `ceiling`: the highest level of data for the call; undefined: that of its caller. */
export type GuardrailLimits = {
  readonly max_body_bytes: number
  readonly ceiling: string | undefined
  readonly counts: readonly GuardrailCount[]
}

export type GuardrailVerdict = { readonly denial: GuardrailDenial } | { readonly limits: GuardrailLimits }

/** Characters of a call that are searched, and one more for each text; a call with more is refused where expressions apply to it. */
export const max_searched_characters = 65_536

const minute_ms = 60_000
const day_ms = 86_400_000

/** Every guardrail that the call is for restricts it; the first that refuses it, in the order of the profile, is named. */
export function judgeCall({ guardrails, levels }: GuardrailSet, call: GuardedCall): GuardrailVerdict {
  const applying = guardrails.filter((each) => appliesTo(each, call))
  for (const each of applying) {
    const reason = findDenial(each, call, levels)
    if (reason) return { denial: { guardrail: each.name, reason } }
  }
  return { limits: joinLimits(applying, levels) }
}

export function appliesTo(guardrail: Guardrail, call: GuardedCall): boolean {
  const { kinds, roles, subjects, services, tools, methods, paths } = guardrail
  return (
    includes(kinds, call.kind) &&
    (!roles || roles.some((role) => call.roles.includes(role))) &&
    isNamedIn(subjects, call.subject) &&
    isNamedIn(services, call.service) &&
    isNamedIn(tools, call.tool) &&
    (!methods || listMethods(call.method).some((method) => methods.includes(method))) &&
    (!paths || listPathForms(call.path).some((form) => isNamedIn(paths, form)))
  )
}

/** A guardrail against GET holds for HEAD too, which shows that an object exists. */
const listMethods = (method = '') => (method === 'HEAD' ? ['HEAD', 'GET'] : [method])

/** Spellings of one path, without query: as it came, decoded, and in the other format of objects. */
function listPathForms(path = ''): string[] {
  const [raw = ''] = path.split('?', 1)
  return [...new Set([raw, decodeEscapes(raw)])].flatMap((form) => {
    const prefix = object_prefixes.find((each) => form.startsWith(`${each}/`))
    return prefix ? object_prefixes.map((each) => each + form.slice(prefix.length)) : [form]
  })
}

/** Path and query as services read them: escapes decoded, a plus as it is and as the blank that forms make of it. */
function listTextForms(path: string | undefined): string[] {
  if (path === undefined) return []
  return [...new Set([path, decodeEscapes(path), decodeEscapes(path.replaceAll('+', ' '))])]
}

const includes = (kinds: readonly CallKind[] | undefined, kind: CallKind) => !kinds || kinds.includes(kind)

/** A guardrail with a list is for calls that have such a name, and for no others. */
function isNamedIn(patterns: readonly string[] | undefined, name: string | undefined): boolean {
  return !patterns || (name !== undefined && patterns.some((pattern) => matchesPattern(pattern, name)))
}

function findDenial(
  { deny, max_body_bytes, searches, label_ceiling }: CompiledGuardrail,
  call: GuardedCall,
  levels: readonly string[],
): GuardrailReason | undefined {
  if (deny) return 'denied'
  if (max_body_bytes !== undefined && (call.body_bytes ?? 0) > max_body_bytes) return 'too_large'
  if (label_ceiling !== undefined && call.kind === 'rest' && isAbove(levels, call.level, label_ceiling)) return 'label'
  return searches.length > 0 ? findInTexts(searches, call) : undefined
}

/** A REST call has the caller's own token, which no guardrail can lower. */
function isAbove(levels: readonly string[], level: string | undefined, ceiling: string): boolean {
  return level !== undefined && levels.indexOf(level) > levels.indexOf(ceiling)
}

function findInTexts(searches: readonly TextSearch[], { path, texts }: GuardedCall): GuardrailReason | undefined {
  const searched = [...listTextForms(path), ...texts]
  if (searched.reduce((sum, text) => sum + text.length + 1, 0) > max_searched_characters) return 'too_much_text'
  return searched.some((text) => searches.some(({ isFoundIn }) => isFoundIn(text))) ? 'pattern' : undefined
}

function joinLimits(applying: readonly Guardrail[], levels: readonly string[]): GuardrailLimits {
  let max_body_bytes = Number.POSITIVE_INFINITY
  let ceiling: string | undefined
  for (const each of applying) {
    const { label_ceiling } = each
    max_body_bytes = Math.min(max_body_bytes, each.max_body_bytes ?? max_body_bytes)
    if (label_ceiling !== undefined && (ceiling === undefined || isAbove(levels, ceiling, label_ceiling)))
      ceiling = label_ceiling
  }
  return { max_body_bytes, ceiling, counts: listCounts(applying) }
}

/** In the order of the guardrails. */
export function listCounts(guardrails: readonly Guardrail[]): GuardrailCount[] {
  return guardrails.flatMap(({ name: guardrail, calls_per_minute, calls_per_day }): GuardrailCount[] => [
    ...(calls_per_minute
      ? [{ guardrail, reason: 'rate' as const, limit: calls_per_minute, window_ms: minute_ms }]
      : []),
    ...(calls_per_day ? [{ guardrail, reason: 'quota' as const, limit: calls_per_day, window_ms: day_ms }] : []),
  ])
}
