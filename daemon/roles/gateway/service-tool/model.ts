// The tools and resources of a registered service that an administrator has accepted, and the approval by which the gateway reads their list.
import * as z from 'zod'
import { storedPrincipal } from '../../../kernel/identity/delegation.ts'
import { collection } from '../../../kernel/store/store.ts'
import { inputKinds } from '../../../kernel/tools/client-input.ts'
import { max_listed_uri, resourceUriPattern, templateUriPattern } from '../../../kernel/tools/remote-resource.ts'

/** `delegated`: a token of the site for this service, in the name of the caller. `none`: the service takes no token. */
export const toolAuthentications = ['delegated', 'none'] as const
export type ToolAuthentication = (typeof toolAuthentications)[number]

/** Of a tool without a permission of its own. */
export const default_tool_permission = 'gateway:call'
export const toolPermission = z
  .string()
  .max(64)
  .regex(/^[a-z][a-z-]*:[a-z][a-z-]*$/, 'must be a permission such as gateway:call')

const toolNamePattern = /^[A-Za-z0-9_./-]{1,128}$/
/** As the service names it: a tool by its name, which has no colon; a resource by its URI, a template by itself. */
export const definitionName = z
  .string()
  .max(max_listed_uri)
  .refine(
    (name) => [toolNamePattern, resourceUriPattern, templateUriPattern].some((pattern) => pattern.test(name)),
    'must be the name of a tool, the URI of a resource, or a template of URIs',
  )
export const definitionDigest = z.string().regex(/^[0-9a-f]{64}$/, 'must be a SHA-256 digest in hexadecimal')

/** Resources included. */
export const max_tools_per_service = 256

const jsonObject = z.record(z.string(), z.unknown())
const toolDefinition = z.strictObject({
  title: z.string().optional(),
  description: z.string().optional(),
  input_schema: jsonObject,
  output_schema: jsonObject.optional(),
  annotations: jsonObject.optional(),
})

const resourceDefinition = z.strictObject({
  kind: z.enum(['resource', 'template']),
  name: z.string(),
  title: z.string().optional(),
  description: z.string().optional(),
  mime_type: z.string().optional(),
})
/** Of a tool, or of a resource. */
export const serviceDefinition = z.union([toolDefinition, resourceDefinition])

const storedApproval = z.strictObject({
  /** The site's own, as that of its service. */
  tenant_id: z.string(),
  service: z.string(),
  /** Another URL, or another registrant, is another service under this name. */
  url: z.string(),
  registered_by: z.string(),
  authentication: z.enum(toolAuthentications),
  /** What its tools may request of the clients that call them. */
  input: z.array(z.enum(inputKinds)).default([]),
  /** In whose name the list is read. */
  principal: storedPrincipal.optional(),
  approved_by: z.string(),
  approved_ts: z.number(),
  /** Differs after each change of the accepted tools. */
  revision: z.string(),
})
export type StoredApproval = z.infer<typeof storedApproval>

/** By name of the service. */
export const toolApprovals = collection({ name: 'tool_approval', schema: storedApproval, indexes: [] })

const acceptedTool = z.strictObject({
  tenant_id: z.string(),
  service: z.string(),
  /** Of a resource, its URI. */
  name: z.string(),
  /** What callers read, whatever the service lists meanwhile. */
  definition: serviceDefinition,
  sha256: z.string(),
  permission: z.string(),
  accepted_by: z.string(),
  accepted_ts: z.number(),
  /** The service lists another definition: the tool is not offered until that one is accepted. */
  held: z.strictObject({ sha256: z.string(), seen_ts: z.number() }).optional(),
})
export type AcceptedTool = z.infer<typeof acceptedTool>

/** By the name, or the URI, under which the gateway offers it. */
export const acceptedTools = collection({ name: 'accepted_tool', schema: acceptedTool, indexes: ['service'] })
