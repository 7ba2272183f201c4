// Lists the accepted tools and resources of registered services.
import * as z from 'zod'
import { operation } from '../../../kernel/operation/operation.ts'
import { buildListQuery, listFields, pageSchema } from '../../../kernel/operation/paging.ts'
import { serviceName } from '../../../shared/routing/ingress-settings.ts'
import { type AcceptedTool, acceptedTools } from './model.ts'
import { offeredName } from './offered-name.ts'
import { serviceToolsPart, type ToolListState } from './parts.ts'
import { definitionKinds, isResource, kindOf } from './rules.ts'

/**
 * `held`: its definition has changed. `absent`: not in the list any more. `unverified`: this process has no list of the
 * service. `disabled`: the gateway offers no tools in this profile (gateway.mcp_enabled).
 */
const toolStates = ['offered', 'held', 'absent', 'unverified', 'disabled'] as const

const acceptedTool = z
  .strictObject({
    service: serviceName,
    name: z.string(),
    kind: z.enum(definitionKinds),
    offered_as: z.string(),
    state: z.enum(toolStates),
    trouble: z.string().optional().meta({ description: 'Why the list of the service cannot be read at present' }),
    permission: z.string(),
    sha256: z.string(),
    accepted_by: z.string(),
    accepted_at: z.iso.datetime(),
    held_at: z.iso.datetime().optional(),
  })
  .meta({ id: 'AcceptedTool' })

export const list = operation({
  summary: 'List the accepted tools and resources of registered services, by name, and which of them are held',
  method: 'GET',
  path: '/api/v2/gateway/tool',
  input: z.strictObject({ ...listFields, service: serviceName.optional() }),
  output: pageSchema(acceptedTool).meta({ id: 'AcceptedToolPage' }),
  errors: [],
  allow: 'gateway:read',

  async run(call, { limit, cursor, ...filters }) {
    const { docs, ...counted } = await call.store(acceptedTools).page(buildListQuery(filters, limit, cursor))
    const { states, isOffering } = call.part(serviceToolsPart)
    const items = docs.map(({ value }) => showTool(value, states.get(value.service), isOffering))
    return { items, ...counted }
  },
})

function showTool(
  tool: AcceptedTool,
  known: ToolListState | undefined,
  isOffering: boolean,
): z.output<typeof acceptedTool> {
  const { service, name, definition, permission, sha256, accepted_by, accepted_ts, held } = tool
  return {
    ...{ service, name, kind: kindOf(definition), offered_as: offeredName({ service, name }) },
    state: stateOf(tool, known, isOffering),
    ...(known?.trouble === undefined ? {} : { trouble: known.trouble }),
    ...{ permission, sha256, accepted_by, accepted_at: new Date(accepted_ts).toISOString() },
    ...(held ? { held_at: new Date(held.seen_ts).toISOString() } : {}),
  }
}

function stateOf(
  { name, held, definition }: AcceptedTool,
  known: ToolListState | undefined,
  isOffering: boolean,
): (typeof toolStates)[number] {
  if (held) return 'held'
  if (!known?.listed || (isResource(definition) && !known.hasResources)) return 'unverified'
  if (!known.listed.has(name)) return 'absent'
  return isOffering ? 'offered' : 'disabled'
}
