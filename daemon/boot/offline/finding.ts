// What an examination of a site finds: one sentence, how bad it is, and how to mend it.

export type Finding = {
  readonly check: string
  /** A warning becomes a problem when nothing is done. */
  readonly state: 'ok' | 'warning' | 'problem'
  readonly detail: string
  readonly remedy?: string
  /** All that it is about, where that is paths. */
  readonly paths?: readonly string[]
}

export const day_ms = 86_400_000

/** How long before an end people are told of it: procurement and boards take their time. */
export const notice_days = 30

export function fine(check: string, detail: string): Finding {
  return { check, state: 'ok', detail }
}

export function warning(check: string, detail: string, remedy: string): Finding {
  return { check, state: 'warning', detail, remedy }
}

export function problem(check: string, detail: string, remedy: string): Finding {
  return { check, state: 'problem', detail, remedy }
}

/** The finding for something that ends at an instant (epoch milliseconds); undefined while that is far off. */
export function ending(check: string, what: string, end: number, now: number, remedy: string): Finding | undefined {
  const on = new Date(end).toISOString().slice(0, 10)
  if (end <= now) return problem(check, `${what} ended on ${on}`, remedy)
  if (end - now < notice_days * day_ms) return warning(check, `${what} ends on ${on}`, remedy)
  return undefined
}
