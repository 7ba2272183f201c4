// The operations that every role serves: health, service-info, metrics, its OpenAPI document, its audit records.

import * as z from 'zod'
import { type AuditLog, auditRecord } from '../audit/audit-chain.ts'
import { type Refusal, refuse } from '../error/errors.ts'
import { permits } from '../identity/identity.ts'
import { jobOperationsOf } from '../job/job-operations.ts'
import { dominates, parseLabelKey } from '../label/label.ts'
import type { Call } from '../operation/call.ts'
import { type AddressedOperation, type AnyOperation, operation, RawResponse } from '../operation/operation.ts'
import type { OperationContract } from '../operation/operation-contract.ts'
import { exactTotal, listFields, pageSchema } from '../operation/paging.ts'
import { readCursor, writeCursor } from '../store/list-cursor.ts'
import { type DependencyHealth, dependencyHealth } from './dependency.ts'
import { requireDistinctOperations } from './distinct-operations.ts'
import { part } from './part.ts'
import { addressOperations, type Role } from './role.ts'

const healthReport = z
  .strictObject({
    status: z.enum(['ok', 'degraded']),
    service: z.string(),
    dependencies: z.array(dependencyHealth).optional().meta({ description: 'Present only for callers with a token' }),
    listens: z
      .array(z.string())
      .optional()
      .meta({ description: 'URLs of its listeners; present only for callers with a token' }),
  })
  .meta({ id: 'Health' })

/** Name of a backup: the instant at which it began, in a form fit for a file name. */
export const backupName = z.string().regex(/^\d{4}-\d\d-\d\dT\d\d-\d\d-\d\d-\d{3}Z$/, 'must be the name of a backup')

const backupAnswer = z
  .discriminatedUnion('state', [
    z.strictObject({ state: z.literal('copying') }),
    z.strictObject({
      state: z.literal('done'),
      sha256: z.string().regex(/^[0-9a-f]{64}$/),
      bytes: z.int().min(0),
    }),
  ])
  .meta({ id: 'BackupAnswer' })
export type BackupAnswer = z.infer<typeof backupAnswer>

const backupInput = z.strictObject({ set: backupName })

/** The operation by which the site role requests a copy of the data of a role. */
export function backupContract(role: string): OperationContract<typeof backupInput, typeof backupAnswer> {
  return { address: `${role}.service.backup`, input: backupInput, output: backupAnswer }
}

/** Objects that boot supplies to the built-in operations. */
export type ServiceParts = {
  readonly phase: () => 'starting' | 'ready' | 'stopping'
  /** Of the role's own store, without which it serves nothing, and of the other dependencies. */
  readonly health: (
    call: Call,
  ) => Promise<{ readonly store: DependencyHealth; readonly others: readonly DependencyHealth[] }>
  /** URLs with the ports that were bound, also where the profile leaves the choice open; no local sockets. */
  readonly listens: () => readonly string[]
  readonly service_info: Readonly<Record<string, unknown>>
  readonly metrics: (call: Call) => Promise<string>
  readonly openapi: Readonly<Record<string, unknown>>
  readonly audit: AuditLog
  /** Puts a copy of the role's database into the backup of this name, which the site role has begun. */
  readonly backup: (set: string) => Promise<BackupAnswer | Refusal>
}
const builtInNoun = 'service'

const serviceParts = part<ServiceParts>('service')

function builtInOperations(role: Pick<Role, 'api_prefix' | 'jobs'>): Readonly<Record<string, AnyOperation>> {
  const at = (path: string) => `${role.api_prefix}${path}`
  return {
    live: operation({
      summary: 'Whether the service is up; with a token also each dependency',
      method: 'GET',
      path: '/health',
      input: z.strictObject({}),
      output: healthReport,
      errors: ['unavailable'],
      allow: 'public',
      run: (call) => reportHealth(call, permits(call.caller.permissions, 'health:read')),
    }),
    health: operation({
      summary: 'Liveness with each dependency, its state and latency',
      method: 'GET',
      path: at('/health'),
      input: z.strictObject({}),
      output: healthReport,
      errors: ['unavailable'],
      allow: 'health:read',
      untraced: true,
      run: (call) => reportHealth(call, true),
    }),
    info: operation({
      summary: 'Identity and capabilities of this service',
      method: 'GET',
      path: '/service-info',
      also: role.api_prefix ? [at('/service-info')] : [],
      input: z.strictObject({}),
      output: z.looseObject({ name: z.string(), version: z.string() }),
      errors: [],
      allow: 'public',
      run: async (call) => call.part(serviceParts).service_info as { name: string; version: string },
    }),
    metrics: operation({
      summary: 'Metrics in the Prometheus text format',
      method: 'GET',
      path: '/metrics',
      also: role.api_prefix ? [at('/metrics')] : [],
      input: z.strictObject({}),
      output: z.string(),
      errors: [],
      allow: 'metrics:read',
      inside: true,
      untraced: true,
      produces: ['text/plain'],
      run: async (call) =>
        new RawResponse('text/plain; version=0.0.4; charset=utf-8', await call.part(serviceParts).metrics(call)),
    }),
    openapi: operation({
      summary: 'This service as an OpenAPI 3.1 document',
      method: 'GET',
      path: '/openapi.json',
      input: z.strictObject({}),
      output: z.looseObject({ openapi: z.string() }),
      errors: [],
      allow: 'openapi:read',
      untraced: true,
      run: async (call) => call.part(serviceParts).openapi as { openapi: string },
    }),
    audit: auditOperation(at('/audit')),
    backup: operation({
      summary: 'Put a copy of this service’s data into a backup that the site role has begun; repeat while it copies',
      method: 'POST',
      path: at('/backup'),
      input: backupInput,
      output: backupAnswer,
      errors: ['not_found', 'already_exists'],
      allow: 'backup:write',
      inside: true,
      run: async (call, { set }) => await call.part(serviceParts).backup(set),
    }),
    ...Object.fromEntries((role.jobs ?? []).flatMap((kind) => Object.entries(jobOperationsOf(kind, role.api_prefix)))),
  }
}

const operationsByRole = new WeakMap<Role, readonly AddressedOperation[]>()

/**
 * Every operation of a role; the built-in ones are `<role>.service.<verb>`. Returns the same objects each time, since
 * operations are compared by identity. Throws for a noun that every role has, and for two operations of one path or tool.
 */
export function operationsOf(role: Role): readonly AddressedOperation[] {
  const operations = operationsByRole.get(role) ?? listOperations(role)
  operationsByRole.set(role, operations)
  return operations
}

/** Throws for a role whose declarations contradict each other, or those that every role has. */
function listOperations(role: Role): readonly AddressedOperation[] {
  if (Object.hasOwn(role.operations, builtInNoun))
    throw new TypeError(`the role ${role.name} declares the noun "${builtInNoun}", which every role has`)
  const builtIn = Object.entries(builtInOperations(role)).map(([verb, operation]) => ({
    address: `${role.name}.${builtInNoun}.${verb}`,
    role: role.name,
    operation,
  }))
  const operations = [...addressOperations(role), ...builtIn]
  requireDistinctOperations(operations)
  return operations
}

function auditOperation(path: string): AnyOperation {
  return operation({
    summary: 'Audit records of this service, newest first',
    method: 'GET',
    path,
    input: z.strictObject({
      ...listFields,
      action: z.string().max(128).optional(),
      target: z.string().max(256).optional(),
      subject: z.string().max(256).optional(),
      since: z.iso.datetime().optional(),
      until: z.iso.datetime().optional(),
    }),
    output: pageSchema(auditRecord).meta({ id: 'AuditPage' }),
    errors: [],
    allow: 'audit:read',
    run: (call, { cursor, limit, ...filter }) => readAuditPage(call, limit, cursor, dropUndefined(filter)),
  })
}

async function reportHealth(call: Call, detailed: boolean): Promise<z.infer<typeof healthReport> | Refusal> {
  const parts = call.part(serviceParts)
  const phase = parts.phase()
  if (phase !== 'ready') return refuse('unavailable', `the service is ${phase}`)
  const { store, others } = await parts.health(call)
  if (store.state === 'down')
    return refuse('unavailable', detailed ? `the store is not ready: ${store.detail}` : 'the store is not ready')
  const dependencies = [store, ...others]
  const status = dependencies.every(({ state }) => state === 'ok') ? 'ok' : 'degraded'
  const details = detailed ? { dependencies, listens: [...parts.listens()] } : {}
  return { status, service: String(parts.service_info.name), ...details }
}

/** Newest records that are counted for a total: each is read, some 10 µs. */
const counted_audit_records_max = 1_000

async function readAuditPage(call: Call, limit: number, cursor: string | undefined, filter: Record<string, string>) {
  const { audit } = call.part(serviceParts)
  const { caller } = call
  const page = { filter, limit, ...(cursor === undefined ? {} : { cursor }) }
  const position = readCursor('audit', page)
  const scope =
    caller.tenant_id === '*' ? {} : { tenant_id: caller.tenant_id, label_keys: await listVisibleLabelKeys(call, audit) }
  const after = position ? { after_seq: Number(position.value) } : {}
  const found = await audit.list({ ...filter, limit: limit + 1, ...after, ...scope })
  const items = found.slice(0, limit)
  const last = items.at(-1)
  const hasMore = found.length > limit
  const isWhole = !hasMore && position === undefined
  const counted = isWhole
    ? exactTotal(items.length)
    : await audit.count({ ...filter, ...scope, limit: counted_audit_records_max })
  const next = last && hasMore ? { next_cursor: writeCursor('audit', page, { value: last.seq, id: '' }) } : {}
  return { items, ...next, ...counted, total: Math.max(counted.total, found.length) }
}

async function listVisibleLabelKeys(call: Call, audit: AuditLog): Promise<string[]> {
  const keys = await audit.labelKeys()
  return keys.filter((key) => key !== '' && dominates(call.caller, parseLabelKey(key), call.site.labels))
}

function dropUndefined(values: Readonly<Record<string, string | undefined>>): Record<string, string> {
  return Object.fromEntries(Object.entries(values).filter((entry): entry is [string, string] => entry[1] !== undefined))
}
