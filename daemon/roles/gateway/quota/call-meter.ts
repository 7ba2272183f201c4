// Counts the calls of each caller by tool, and collects the callers that have no document yet: a call waits for neither.
import type { KeyValue } from '../../../kernel/store/key-value.ts'
import type { GuardedCall } from '../guardrail/model.ts'
import type { GuardrailCount } from '../guardrail/rules.ts'
import { type CallRoute, findCallRoute, usage_renewal_ms, usage_window_ms, usageId, usageKey } from './model.ts'

/** Callers by target that one process remembers; beyond, those with a document are noted again. */
const max_noted = 10_000

type CountedBy = Pick<GuardrailCount, 'guardrail' | 'reason'>

/** A caller and a target whose document lacks these guardrails, or is missing. */
export type NotedUsage = CallRoute & { readonly id: string; readonly guardrails: readonly CountedBy[] }

export class CallMeter {
  readonly #increment: KeyValue['increment']
  /** Guardrails in the document, by its id. */
  readonly #kept = new Map<string, ReadonlySet<string>>()
  readonly #waiting = new Map<string, NotedUsage>()
  #renewed_ms = 0

  constructor(increment: KeyValue['increment']) {
    this.#increment = increment
  }

  note(call: GuardedCall, counts: readonly GuardrailCount[], outcome: 'passed' | 'refused'): void {
    const route = findCallRoute(call)
    const id = usageId(route)
    // Without the counters a call that a guardrail must count is refused; this count is for reports alone.
    void this.#increment(usageKey(id, outcome), 1, usage_window_ms).catch(() => undefined)
    const kept = this.#kept.get(id)
    if (kept && counts.every((count) => kept.has(nameOf(count)))) return
    const waiting = this.#waiting.get(id)
    if (!waiting && this.#waiting.size >= max_noted) return
    this.#waiting.set(id, { ...route, id, guardrails: joinCounts(waiting?.guardrails ?? [], counts) })
  }

  /** At most `limit` that have no document yet, or an old one; each stays until `markKept`. */
  listWaiting(now: number, limit: number): readonly NotedUsage[] {
    if (now - this.#renewed_ms >= usage_renewal_ms) {
      this.#renewed_ms = now
      // Every caller is noted again with its next call, so that its document lives on.
      this.#kept.clear()
    }
    return [...this.#waiting.values()].slice(0, limit)
  }

  /** Its document has these guardrails now. */
  markKept({ id, guardrails }: NotedUsage): void {
    if (this.#kept.size >= max_noted) this.#kept.clear()
    this.#kept.set(id, new Set([...(this.#kept.get(id) ?? []), ...guardrails.map(nameOf)]))
    const waiting = this.#waiting.get(id)
    if (waiting && waiting.guardrails.length <= guardrails.length) this.#waiting.delete(id)
  }
}

const nameOf = ({ guardrail, reason }: CountedBy) => `${guardrail} ${reason}`

function joinCounts(known: readonly CountedBy[], counts: readonly CountedBy[]): readonly CountedBy[] {
  const joined = new Map(
    [...known, ...counts].map(({ guardrail, reason }) => [nameOf({ guardrail, reason }), { guardrail, reason }]),
  )
  return [...joined.values()]
}
