// Contract of a dependency: what a role needs besides its own store, and how its health is found.
import * as z from 'zod'

export const dependencyHealth = z.strictObject({
  name: z.string(),
  state: z
    .enum(['ok', 'degraded', 'down'])
    .meta({ description: 'degraded: it serves, with limits; down: it does not' }),
  detail: z.string(),
  latency_ms: z.number().min(0),
})
export type DependencyHealth = z.infer<typeof dependencyHealth>

/** The state of a dependency and its reason. `latency_ms`: of an earlier request, where the probe sends none. */
export type DependencyFinding = Pick<DependencyHealth, 'state' | 'detail'> & { readonly latency_ms?: number }

/** What a request of the role's work last found. `at`: epoch milliseconds. */
export type DependencyObservation = {
  readonly ok: boolean
  readonly detail: string
  readonly latency_ms: number
  readonly at: number
}

/** The finding of an observation; without one the dependency has not been used. */
export function findingOfObservation(observation: DependencyObservation | undefined): DependencyFinding {
  if (!observation) return { state: 'ok', detail: 'not used yet' }
  const { ok, detail, latency_ms, at } = observation
  return { state: ok ? 'ok' : 'down', detail: `${detail}, ${new Date(at).toISOString()}`, latency_ms }
}

/** A dependency that the wire of a role supplies. Its name is unique in the role, and not `store`. */
export type Dependency = {
  readonly name: string
  /** A probe that throws, or has not answered when the signal is aborted, has found it down. */
  readonly probe: (signal: AbortSignal) => Promise<DependencyFinding>
}

/** The finding of a part that knows only whether it works. */
export function findingOf(
  { ok, detail }: { readonly ok: boolean; readonly detail: string },
  otherwise: 'degraded' | 'down',
): DependencyFinding {
  return { state: ok ? 'ok' : otherwise, detail }
}
