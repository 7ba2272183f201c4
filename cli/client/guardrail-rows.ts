// Quotas of callers, and denials by guardrails, as rows of a table.
import type { ApiObject } from '../client/client.ts'

/** Denials by guardrails are audit records of the gateway with one action. */
export const denialRecords = { operation: 'gateway.service.audit', input: { action: 'gateway.guardrail.denied' } }

/** The row of an audit record. An expired one keeps its digest alone. */
export function readDenialRow({ seq, event }: ApiObject): ApiObject {
  if (event === undefined) return { seq }
  const { at, target, subject, detail } = event as ApiObject
  const { guardrail, reason, kind, method } = (detail ?? {}) as ApiObject
  return { seq, at, guardrail, reason, kind, subject, target, method }
}

const windowNames: Readonly<Record<string, string>> = { 60: 'a minute', 86400: 'a day' }

/** Such as `pace 3 of 60 a minute`. */
export function formatQuotas(quotas: unknown): string | undefined {
  const rows = quotas as readonly ApiObject[]
  if (rows.length === 0) return undefined
  return rows
    .map(({ guardrail, used, limit, window_s }) => {
      const window = windowNames[String(window_s)] ?? `${window_s} s`
      return `${guardrail} ${used} of ${limit} ${window}`
    })
    .join(', ')
}
