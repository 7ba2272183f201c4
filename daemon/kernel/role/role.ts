// A role is a declaration: an outline that every process knows, and a table of contents from which boot makes a
// service.

import type { McpResourceDeclaration } from '../api/mcp-resources.ts'
import type { MessageKind } from '../messaging/statement.ts'
import type { Call } from '../operation/call.ts'
import type { AddressedOperation, AnyOperation } from '../operation/operation.ts'
import type { ResolvedSettings, SettingsBlock } from '../settings/settings.ts'
import type { Collection } from '../store/store.ts'
import type { Metric } from '../telemetry/metrics.ts'
import type { DeploymentProfile } from './site.ts'

/** Scheduled or woken work: a function of the time that its call gives. */
export type Worker = {
  readonly name: string
  /** At least this often, or at the times of a cron expression; `wake` runs it sooner. Never two runs at a time. */
  readonly when: { readonly every_ms: number } | { readonly cron: (settings: ResolvedSettings) => string | undefined }
  readonly run: (call: Call) => Promise<void>
}

/**
 * Facts of a role, whether it runs here or not: enough to resolve a profile, and to find the role that takes a message.
 */
export type RoleOutline = {
  readonly name: string
  readonly purpose: string
  readonly port: number
  /** `site`: it belongs to the site alone, and people of other tenants have no business with it. */
  readonly serves: 'tenants' | 'site'
  /** Keeps the heads of the audit chains of the site's roles. */
  readonly keeps_audit_anchors?: true
  /** Owns the keys, peers and channels of the site, and the journal of its messages. Exactly one role does. */
  readonly owns_site_files?: true
  /** Name of its index family in a cluster, where that is not the name of the role. */
  readonly index_family?: string
  /** Prefix under which health, service-info and metrics are served besides the root. */
  readonly api_prefix: string
  /** Roles that must run somewhere on the site before this one is ready. */
  readonly needs: readonly string[]
  readonly settings: readonly SettingsBlock[]
  /** Kinds of messages from peers. */
  readonly takes: readonly MessageKind[]
  /** Loads the rest of the role; a process that does not run the role does not pay for it. */
  readonly load: () => Promise<Role>
}

export type Role = RoleOutline & {
  // biome-ignore lint/suspicious/noExplicitAny: collections of different documents in one list
  readonly collections: readonly Collection<any>[]
  readonly metrics: readonly Metric[]
  readonly workers: readonly Worker[]
  /** noun to verb to operation */
  readonly operations: Readonly<Record<string, Readonly<Record<string, AnyOperation>>>>
  /** Which operation takes which kind of message from a peer. */
  readonly messages: Readonly<Partial<Record<MessageKind, AnyOperation>>>
  /** Documents that AI clients read by a URI, where the site offers tools. */
  readonly resources?: readonly McpResourceDeclaration[]
  /** Fields of service-info; boot adds the counts of tools and resources. */
  readonly serviceInfo: (about: RoleDeployment) => Readonly<Record<string, unknown>>
  /** Why the role must not start with these settings; undefined when it may. */
  readonly refusesToStart?: (about: RoleDeployment) => string | undefined
  /** Gauges that are read when metrics are, not counted as they happen. */
  readonly gauges?: (call: Call) => Promise<void>
}

export type RoleDeployment = {
  readonly deployment_profile: DeploymentProfile
  readonly settings: ResolvedSettings
  readonly transports: readonly string[]
}

type MessageTakingOutline<K extends MessageKind> = RoleOutline & { readonly takes: readonly K[] }
type RoleContents<K extends MessageKind> = Omit<Role, keyof RoleOutline | 'messages'> & {
  readonly messages: Readonly<Record<K, AnyOperation>>
}

export function outline<K extends MessageKind>(given: MessageTakingOutline<K>): MessageTakingOutline<K> {
  return given
}

/** Each kind that the outline takes has its operation, and no other has. */
export function role<K extends MessageKind>(of: MessageTakingOutline<K>, contents: RoleContents<K>): Role {
  return { ...of, ...contents }
}

/** Every operation of a role with its address, in the order of declaration. */
export function addressOperations(of: Role): AddressedOperation[] {
  return Object.entries(of.operations).flatMap(([noun, verbs]) =>
    Object.entries(verbs).map(([verb, operation]) => ({
      address: `${of.name}.${noun}.${verb}`,
      role: of.name,
      operation,
    })),
  )
}
