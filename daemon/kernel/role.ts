// A role is a declaration: its table of contents, from which boot makes a service.
import type { Call, DeploymentProfile } from './call.ts'
import type { Metric } from './metrics.ts'
import type { Addressed, AnyOperation } from './operation.ts'
import type { Block, Resolved } from './settings.ts'
import type { Collection } from './store.ts'
import type { MessageKind } from './transport.ts'

/** Scheduled or woken work: a function of the time that its call gives. */
export type Worker = {
  readonly name: string
  /** At least this often, or at the times of a cron expression; `wake` runs it sooner. Never two runs at a time. */
  readonly when: { readonly every_ms: number } | { readonly cron: (settings: Resolved) => string | undefined }
  readonly run: (call: Call) => Promise<void>
}

export type Role = {
  readonly name: string
  readonly purpose: string
  readonly port: number
  /** `site`: it belongs to the site alone, and people of other tenants have no business with it. */
  readonly serves: 'tenants' | 'site'
  /** Prefix under which health, service-info and metrics are served besides the root. */
  readonly api_prefix: string
  /** Roles that must run somewhere on the site before this one is ready. */
  readonly needs: readonly string[]
  readonly settings: readonly Block[]
  // biome-ignore lint/suspicious/noExplicitAny: collections of different documents in one list
  readonly collections: readonly Collection<any>[]
  readonly metrics: readonly Metric[]
  readonly workers: readonly Worker[]
  /** noun to verb to operation */
  readonly operations: Readonly<Record<string, Readonly<Record<string, AnyOperation>>>>
  /** Which operation takes which kind of message from a peer. */
  readonly messages: Readonly<Partial<Record<MessageKind, AnyOperation>>>
  /** What service-info says; its tools are counted by boot. */
  readonly serviceInfo: (about: About) => Readonly<Record<string, unknown>>
  /** Why the role must not start with these settings; undefined when it may. */
  readonly refusesToStart?: (about: About) => string | undefined
  /** Gauges that are read when metrics are, not counted as they happen. */
  readonly gauges?: (call: Call) => Promise<void>
}

export type About = {
  readonly deployment_profile: DeploymentProfile
  readonly settings: Resolved
  readonly transports: readonly string[]
}

export function role(given: Role): Role {
  return given
}

/** Every operation of a role with its address, in the order of declaration. */
export function addressed(of: Role): Addressed[] {
  return Object.entries(of.operations).flatMap(([noun, verbs]) =>
    Object.entries(verbs).map(([verb, operation]) => ({
      address: `${of.name}.${noun}.${verb}`,
      role: of.name,
      operation,
    })),
  )
}
