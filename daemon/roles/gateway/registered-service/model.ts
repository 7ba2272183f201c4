// A registered service as it is stored, and what the gateway keeps of its service-info.
import * as z from 'zod'
import { componentKinds } from '../../../kernel/settings/gateway-settings.ts'
import { collection } from '../../../kernel/store/store.ts'
import { objectName, serviceName } from '../../../shared/routing/ingress-settings.ts'
import { registrationSources } from '../../../shared/service-registry/registered-service.ts'

export const max_objects = 1_000

const servedPath = z
  .string()
  .max(256)
  .regex(/^\/[!-~]*$/, 'must be a path')
const optionalPath = servedPath.nullish().transform((path) => path ?? undefined)

/** Of the answer of a service; its other fields are dropped. */
export const serviceInfo = z.object({
  name: serviceName,
  version: z.string().max(64).optional(),
  objects: z
    .array(objectName)
    .max(max_objects)
    .default([])
    .transform((objects) => [...new Set(objects)].sort()),
  api_path: optionalPath,
  health_path: optionalPath,
  mcp_path: optionalPath,
  tools_count: z.int().min(0).max(1_000_000).default(0),
})
export type ServiceInfo = z.infer<typeof serviceInfo>

const storedService = z.strictObject({
  /** The site's own: a registry is not a tenant's. */
  tenant_id: z.string(),
  name: z.string(),
  url: z.string(),
  component_kind: z.enum(componentKinds),
  source: z.enum(registrationSources),
  /** `claiming`: its first claims of objects are being made; nobody is routed to it yet. */
  state: z.enum(['claiming', 'live', 'unverified']),
  objects: z.array(z.string()),
  /** Objects that a registration is about to own: its claims of them count already. */
  claiming: z.array(z.string()),
  /** The registration that claims or has claimed objects last, so that of two at once only the later one ends. */
  attempt: z.string(),
  version: z.string().optional(),
  api_path: z.string().optional(),
  health_path: z.string().optional(),
  mcp_path: z.string().optional(),
  tools_count: z.int(),
  info_sha256: z.string(),
  info_ts: z.number(),
  last_error: z.string().optional(),
  ttl_s: z.int(),
  registered_by: z.string(),
  registered_ts: z.number(),
  /** Not `expires_ts`, by which documents vanish without a record: the end of a registration is audited. */
  ends_ts: z.number(),
})
export type StoredService = z.infer<typeof storedService>

/** By name. If-Match is of no use with registrations, whose version each renewal changes. */
export const services = collection({
  name: 'service',
  schema: storedService,
  indexes: ['state', 'source', 'component_kind', 'url', 'ends_ts'],
  revision: () => undefined,
})
