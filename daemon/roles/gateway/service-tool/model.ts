// The tools of a registered service that an administrator has accepted, and the approval by which the gateway reads their list.
import * as z from 'zod'
import { storedPrincipal } from '../../../kernel/identity/delegation.ts'
import { collection } from '../../../kernel/store/store.ts'
import { inputKinds } from '../../../kernel/tools/client-input.ts'

/** `delegated`: a token of the site for this service, in the name of the caller. `none`: the service takes no token. */
export const toolAuthentications = ['delegated', 'none'] as const
export type ToolAuthentication = (typeof toolAuthentications)[number]

/** Of a tool without a permission of its own. */
export const default_tool_permission = 'gateway:call'
export const toolPermission = z
  .string()
  .max(64)
  .regex(/^[a-z][a-z-]*:[a-z][a-z-]*$/, 'must be a permission such as gateway:call')

/** As the service names it. */
export const toolName = z.string().regex(/^[A-Za-z0-9_./-]{1,128}$/, 'must be letters, digits and _ . / -, at most 128')
export const definitionDigest = z.string().regex(/^[0-9a-f]{64}$/, 'must be a SHA-256 digest in hexadecimal')

export const max_tools_per_service = 256

const jsonObject = z.record(z.string(), z.unknown())
export const toolDefinition = z.strictObject({
  title: z.string().optional(),
  description: z.string().optional(),
  input_schema: jsonObject,
  output_schema: jsonObject.optional(),
  annotations: jsonObject.optional(),
})

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
  name: z.string(),
  /** What callers read, whatever the service lists meanwhile. */
  definition: toolDefinition,
  sha256: z.string(),
  permission: z.string(),
  accepted_by: z.string(),
  accepted_ts: z.number(),
  /** The service lists another definition: the tool is not offered until that one is accepted. */
  held: z.strictObject({ sha256: z.string(), seen_ts: z.number() }).optional(),
})
export type AcceptedTool = z.infer<typeof acceptedTool>

/** By the name under which the gateway offers the tool. */
export const acceptedTools = collection({ name: 'accepted_tool', schema: acceptedTool, indexes: ['service'] })
