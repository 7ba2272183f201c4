// A small role on the real kernel, with an operation for each thing that a listener must do.

import { announcementBus } from '../../../daemon/boot/announcement-bus.ts'
import { listToolAddresses } from '../../../daemon/kernel/api/mcp-tools.ts'
import { builtInRoles, type CredentialClaims } from '../../../daemon/kernel/identity/identity.ts'
import type { AddressedOperation, ServerEvent } from '../../../daemon/kernel/operation/operation.ts'
import type { RoleClients } from '../../../daemon/kernel/operation/operation-contract.ts'
import type { RoleContext } from '../../../daemon/kernel/operation/role-context.ts'
import type { RoleEnvironment } from '../../../daemon/kernel/operation/role-environment.ts'
import type { Metrics } from '../../../daemon/kernel/telemetry/metrics.ts'
import { reportThrottle } from '../../../daemon/kernel/telemetry/report-throttle.ts'
import { roleCalls, toolAggregator } from '../../../daemon/role-calls.ts'
import { buildOtherOperations, buildPlainOperations, buildSlowOperations } from './echo-operations.ts'
import { buildToolOperations } from './tool-operations.ts'

/** The test's handles of the role: gates to open, signals to read. */
export type EchoControls = {
  /** Signals of the calls of `echo.wait` and `echo.stream`, in order. */
  readonly signals: AbortSignal[]
  /** Ends the oldest call of `echo.wait`. */
  release(): void
  /** Gives every open stream one more event. */
  emit(event: ServerEvent): void
  readonly streams: () => number
  /** Of the events that `many` of `/stream` names, those that the service has taken. */
  taken: number
  readonly verified: string[]
  readonly logged: [string, string, Readonly<Record<string, unknown>> | undefined][]
}

export type EchoRole = {
  readonly operations: readonly AddressedOperation[]
  readonly context: RoleContext
  readonly controls: EchoControls
}

export type EchoEventListener = (event: ServerEvent) => void

/** The token is subject and role, and perhaps the role of the site that acts: `alice.admin~proxy`, `role/consensus.service`; not valid without a dot. */
export function echoRole(metrics: Metrics): EchoRole {
  const gates: (() => void)[] = []
  const listeners = new Set<EchoEventListener>()
  const handle: EchoControls = {
    signals: [],
    release: () => gates.shift()?.(),
    emit: (event) => {
      for (const listener of listeners) listener(event)
    },
    streams: () => listeners.size,
    taken: 0,
    verified: [],
    logged: [],
  }
  const verbs = {
    ...buildPlainOperations(),
    ...buildOtherOperations(),
    ...buildToolOperations(),
    ...buildSlowOperations(handle, gates, listeners),
  }
  const operations = Object.entries(verbs).map(([verb, declared]) => ({
    address: `test.echo.${verb}`,
    role: 'test',
    operation: declared,
  }))
  return { operations, context: buildRoleContext(handle, metrics, operations), controls: handle }
}

function buildRoleContext(
  handle: EchoControls,
  metrics: Metrics,
  operations: readonly AddressedOperation[],
): RoleContext {
  let drawn = 0
  const notHere = (): never => {
    throw new Error('this role has no such thing')
  }
  const log = (level: string) => (event: string, fields?: Readonly<Record<string, unknown>>) => {
    handle.logged.push([level, event, fields])
  }
  const environment: Partial<RoleEnvironment> = {
    site: {
      name: 'test',
      tenant_id: 't',
      deployment_profile: 'single_cluster',
      labels: { policy: 'P', levels: ['LOW'] },
      default_level: 'LOW',
    },
    log: { debug: log('debug'), info: log('info'), warn: log('warn'), error: log('error') },
    now: () => 0,
    monotonic: () => performance.now(),
    changes: announcementBus().changes,
    pause: async () => undefined,
    random: (bytes) => (++drawn).toString(16).padStart(bytes * 2, '0'),
    count: (...counted) => metrics.count(...counted),
    set: (...measured) => metrics.set(...measured),
    observe: (...measured) => metrics.observe(...measured),
  }
  // A promise looks for `then` in its result: a call must not have one.
  const get = (of: object, key: string | symbol) => Reflect.get(of, key) ?? (key === 'then' ? undefined : notHere)
  const strictEnvironment = new Proxy(environment, { get }) as RoleEnvironment
  const store = new Proxy({}, { get: notHere }) as RoleContext['store']
  const others = new Proxy({}, { get: notHere }) as RoleClients
  return {
    environment: strictEnvironment,
    operations,
    roles: () => others,
    delegation: notHere,
    identity: { name: 'offline', verify: async (bearer = '') => parseClaims(handle, bearer) },
    role_calls: roleCalls,
    delegated_calls: new Map([[toolAggregator, listToolAddresses('test', operations)]]),
    role_table: { ...builtInRoles, echoer: ['echo:write'] },
    store,
    record: async () => undefined,
    throttle: reportThrottle(() => 0),
  }
}

function parseClaims(handle: EchoControls, bearer: string): CredentialClaims | undefined {
  handle.verified.push(bearer)
  const [identity = '', actor] = bearer.split('~')
  const [name, role] = identity.split('.')
  if (!name || !role) return undefined
  const sub = name.replace('/', ':')
  return {
    sub,
    tenant_id: sub.startsWith('role:') ? '*' : 't',
    roles: [role],
    jti: 'j',
    exp: 2_000_000_000,
    ...(actor === undefined ? {} : { act: { sub: `role:${actor}` } }),
  }
}
