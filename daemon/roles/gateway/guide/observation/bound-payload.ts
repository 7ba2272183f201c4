// Bounds what an observation keeps of a payload: size, depth and number of values; and leaves out secrets and attached guidance.
import { isSecretName, redacted_text, redactText } from '../../../../kernel/secret/redact-text.ts'

/** Where content was left out. */
export const cut_mark = '[cut]'

/** The field of attached guidance: what was advised must never be learnt as if it had been observed. */
const guidance_field = 'guide_guidance'

const max_depth = 10
const max_members = 64
const max_text = 8_192
const max_values = 1_000
const max_characters = 32_768
const max_name = 128
/** They would change an object instead of being a member of it. */
const unsafeNames: ReadonlySet<string> = new Set(['__proto__', 'constructor', 'prototype', guidance_field])

type PayloadObject = Record<string, unknown>
/** What may still be kept of one payload. */
type Budget = { values: number; characters: number }

/** A copy as plain JSON, at most some 64 KiB; the cost is bounded, whatever the size of the payload. */
export function boundPayload(payload: unknown): PayloadObject {
  const budget = { values: max_values, characters: max_characters }
  const bounded = boundValue(payload, 0, budget)
  return typeof bounded === 'object' && bounded !== null && !Array.isArray(bounded)
    ? (bounded as PayloadObject)
    : { value: bounded }
}

function boundValue(value: unknown, depth: number, budget: Budget): unknown {
  budget.values -= 1
  if (budget.values < 0) return cut_mark
  if (typeof value === 'string') return boundText(value, max_text, budget)
  if (typeof value === 'number') return Number.isFinite(value) ? value : null
  if (typeof value === 'boolean') return value
  if (typeof value !== 'object' || value === null) return null
  if (depth >= max_depth) return cut_mark
  return Array.isArray(value)
    ? boundList(value, depth, budget)
    : boundMembers(value as Readonly<PayloadObject>, depth, budget)
}

function boundList(items: readonly unknown[], depth: number, budget: Budget): unknown[] {
  const kept: unknown[] = []
  for (const item of items.slice(0, max_members)) {
    if (budget.values <= 0) break
    kept.push(boundValue(item, depth + 1, budget))
  }
  if (kept.length < items.length) kept.push(cut_mark)
  return kept
}

function boundMembers(members: Readonly<PayloadObject>, depth: number, budget: Budget): PayloadObject {
  const kept: PayloadObject = {}
  let count = 0
  // By name and not by entries: a hostile object may have a million of them.
  for (const name in members) {
    if (unsafeNames.has(name) || !Object.hasOwn(members, name)) continue
    count += 1
    if (count > max_members || budget.values <= 0) {
      kept[cut_mark] = true
      break
    }
    const value = members[name]
    // Observations are kept for weeks, and administrators read them.
    kept[boundText(name, max_name, budget)] =
      typeof value === 'string' && isSecretName(name) ? redacted_text : boundValue(value, depth + 1, budget)
  }
  return kept
}

/** At most so many characters and what the budget has left, without half a character. */
function boundText(text: string, max: number, budget: Budget): string {
  const room = Math.max(0, Math.min(max, budget.characters))
  budget.characters -= Math.min(text.length, room)
  const kept = redactText(text.slice(0, room).toWellFormed())
  return text.length <= room ? kept : `${kept}${cut_mark}`
}

/** An envelope that nobody has checked, with its fields bounded; `emitted_by` is left out, since it is never used. */
export function boundEnvelope(envelope: unknown): PayloadObject {
  if (typeof envelope !== 'object' || envelope === null || Array.isArray(envelope)) return {}
  const { emitted_by: _, payload, ...fields } = envelope as PayloadObject
  const bounded = boundPayload(fields)
  return payload === undefined ? bounded : { ...bounded, payload: isMembers(payload) ? boundPayload(payload) : null }
}

function isMembers(value: unknown): boolean {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
