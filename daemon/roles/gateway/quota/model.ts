// Callers that the gateway has counted, by tool: the counts are short-lived values that all its processes share.
import * as z from 'zod'
import { sha256 } from '../../../kernel/encoding/canonical-json.ts'
import { collection } from '../../../kernel/store/store.ts'
import { callKind, type GuardedCall } from '../guardrail/model.ts'
import { countedReasons } from '../guardrail/rules.ts'

const countedBy = z.strictObject({ guardrail: z.string(), reason: z.enum(countedReasons) })

const callUsage = z.strictObject({
  tenant_id: z.string(),
  subject: z.string(),
  kind: z.enum(callKind.options),
  target: z.string(),
  /** Among the others: `usagePlace`. */
  place: z.string(),
  /** Guardrails that have counted a call of this caller to the target. */
  guardrails: z.array(countedBy),
  /** Some time after the window of its last count has ended. */
  expires_ts: z.number(),
})
export type CallUsage = z.infer<typeof callUsage>

/** By caller, kind and target. */
export const callUsages = collection({
  name: 'call_usage',
  schema: callUsage,
  indexes: ['subject', 'kind', 'target', 'place'],
})

export const usage_window_ms = 86_400_000
/** How often a document is written again for a caller that goes on. */
export const usage_renewal_ms = 3_600_000

/** A caller, and where its calls go: to a tool, else to a service, else to the chat. A template has any number of URIs. */
export type CallRoute = Pick<CallUsage, 'tenant_id' | 'subject' | 'kind' | 'target'>

export function findCallRoute({ tenant_id, subject, kind, tool, service }: GuardedCall): CallRoute {
  const target = (kind === 'resource' ? undefined : tool) ?? service ?? kind
  return { tenant_id, subject, kind, target }
}

export function usageId({ tenant_id, subject, kind, target }: CallRoute): string {
  return sha256(JSON.stringify([tenant_id, subject, kind, target]))
}

/** By caller, then by target. A tab sorts before every character of a name, so that `ann` comes before `ann-2`. */
export function usagePlace({ subject, target, kind }: CallRoute): string {
  return [subject, target, kind].join('\t')
}

/** Of the calls that went on, and of those that a guardrail has refused. */
export function usageKey(id: string, outcome: 'passed' | 'refused'): string {
  return `usage:${outcome}:${id}`
}
