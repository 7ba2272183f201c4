// A role is a declaration: an outline that every process loads, and the contents that boot starts as a service.

import type { McpResourceDeclaration } from '../api/mcp-resources.ts'
import type { AnyJobKind } from '../job/job.ts'
import type { MessageKind, MessageOrder } from '../messaging/message-kind.ts'
import type { Call } from '../operation/call.ts'
import type { AddressedOperation, AnyOperation } from '../operation/operation.ts'
import type { ListenerDeclaration } from '../settings/listener-settings.ts'
import type { ResolvedSettings, SettingsBlock } from '../settings/settings.ts'
import type { Collection } from '../store/store.ts'
import type { Metric } from '../telemetry/metrics.ts'
import { findDeclarationFaults } from './declaration-faults.ts'
import type { DeploymentProfile } from './site.ts'

/** A cron expression or named interval, and the time zone that it is in. */
export type CronSetting = { readonly expression: string; readonly zone: string }

/** Scheduled work. `run` takes its time from the call. */
export type Worker = {
  readonly name: string
  /**
   * Interval, or schedule from the settings. `wake` runs the worker sooner. Runs never overlap. Times of a schedule that
   * pass while the process is down or busy lead to one run, when it can.
   */
  readonly when:
    | { readonly every_ms: number }
    | { readonly cron: (settings: ResolvedSettings) => CronSetting | undefined }
  readonly run: (call: Call) => Promise<void>
}

/**
 * Facts about a role that every process knows: enough to resolve a profile, and to find the role that takes a
 * message.
 */
export type RoleOutline = {
  readonly name: string
  readonly purpose: string
  /** Its TCP listeners. The first one, without a prefix, serves the operations; the wire serves the others. */
  readonly listeners: readonly [ListenerDeclaration<''>, ...ListenerDeclaration[]]
  /** True for a role whose first listener is its wire's, for callers without a token: its operations are on the local socket. */
  readonly has_public_listener?: true
  /** `site`: it serves only the site's own tenant. */
  readonly serves: 'tenants' | 'site'
  /** True for the role that stores the heads of the site's audit chains. */
  readonly keeps_audit_anchors?: true
  /**
   * True for the role that owns keys, peers and channels of the site, and its message journal. Exactly one role does.
   */
  readonly owns_site_files?: true
  /** Offer of a site that runs the role to the other nodes of a coalition. */
  readonly coalition_offer?: { readonly hosts: readonly string[]; readonly capabilities: readonly string[] }
  /** Name of its index family in a cluster, where that is not the name of the role. */
  readonly index_family?: string
  /** The only deployment profiles in which the role offers tools, whatever is set; default: all. */
  readonly tool_profiles?: readonly DeploymentProfile[]
  /** Host names, lower case, at which the interface documents route to the tools of the role. */
  readonly tool_hosts?: readonly string[]
  /** Prefix under which health, service-info and metrics are served besides the root. */
  readonly api_prefix: string
  /** Roles that must run somewhere on the site before this one is ready. */
  readonly needs: readonly string[]
  readonly settings: readonly SettingsBlock[]
  /** Kinds of messages that the role takes from peers, each with the order in which it is applied. */
  readonly takes: Readonly<Record<MessageKind, MessageOrder>>
  /** Types of documents that the site signs with its key for this role, and for no other. */
  readonly signs?: readonly string[]
  /** Loads the contents of the role. A process that does not run the role does not load them. */
  readonly load: () => Promise<Role>
}

export type Role = RoleOutline & {
  // biome-ignore lint/suspicious/noExplicitAny: collections of different documents in one list
  readonly collections: readonly Collection<any>[]
  /** Documented index names that settings change: the declared one to the other. */
  readonly documentedNames?: (settings: ResolvedSettings) => Readonly<Record<string, string>>
  readonly metrics: readonly Metric[]
  readonly workers: readonly Worker[]
  /** Work that outlives a request, run by the worker `jobs`. A role with jobs has the collection `jobLeases`. */
  readonly jobs?: readonly AnyJobKind[]
  /** Operations by noun and verb. */
  readonly operations: Readonly<Record<string, Readonly<Record<string, AnyOperation>>>>
  /** The operation that takes each kind of message from a peer. */
  readonly messages: Readonly<Record<MessageKind, AnyOperation>>
  /** Documents that AI clients read by a URI, where the site offers tools. */
  readonly resources?: readonly McpResourceDeclaration[]
  /** Fields of service-info; boot adds the version and the counts of tools and resources. */
  readonly serviceInfo: (deployment: RoleDeployment) => Readonly<Record<string, unknown>>
  /** Why the role must not start with these settings; undefined when it may. */
  readonly refusesToStart?: (deployment: RoleDeployment) => string | undefined
  /** Updates gauges when metrics are read. */
  readonly gauges?: (call: Call) => Promise<void>
}

export type RoleDeployment = {
  readonly deployment_profile: DeploymentProfile
  readonly settings: ResolvedSettings
  readonly transports: readonly string[]
}

type MessageTakingOutline<K extends MessageKind> = RoleOutline & { readonly takes: Readonly<Record<K, MessageOrder>> }
type RoleContents<K extends MessageKind> = Omit<Role, keyof RoleOutline | 'messages'> & {
  readonly messages: Readonly<Record<K, AnyOperation>>
}

export function outline<K extends MessageKind>(declaration: MessageTakingOutline<K>): MessageTakingOutline<K> {
  return declaration
}

/**
 * Declares a role. `messages` must hold an operation for each kind that the outline takes, and for no other. Throws with
 * every mistake that `findDeclarationFaults` finds.
 */
export function role<K extends MessageKind>(outline: MessageTakingOutline<K>, contents: RoleContents<K>): Role {
  const declared: Role = { ...outline, ...contents }
  const faults = findDeclarationFaults(declared)
  if (faults.length > 0) throw new TypeError(`the role ${declared.name} is declared wrongly: ${faults.join('; ')}`)
  return declared
}

/** Every operation of a role with its address, in the order of declaration. */
export function addressOperations(outline: Role): AddressedOperation[] {
  return Object.entries(outline.operations).flatMap(([noun, verbs]) =>
    Object.entries(verbs).map(([verb, operation]) => ({
      address: `${outline.name}.${noun}.${verb}`,
      role: outline.name,
      operation,
    })),
  )
}
