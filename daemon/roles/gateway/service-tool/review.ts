// Reads the tools and resources of a registered service as they are now, beside what has been accepted of them.
import * as z from 'zod'
import { isRefusal } from '../../../kernel/error/errors.ts'
import type { Call } from '../../../kernel/operation/call.ts'
import { operation } from '../../../kernel/operation/operation.ts'
import { iterateDocuments } from '../../../kernel/store/iterate-documents.ts'
import { inputKinds } from '../../../kernel/tools/client-input.ts'
import { serviceName } from '../../../shared/routing/ingress-settings.ts'
import { chooseAuthentication, requireEndpoint } from './find-endpoint.ts'
import { findingKinds, findToolFindings } from './findings.ts'
import { holdTools } from './hold-tools.ts'
import { loadAcceptedTools } from './load-accepted.ts'
import { type AcceptedTool, acceptedTools, serviceDefinition, toolApprovals, toolAuthentications } from './model.ts'
import { offeredName } from './offered-name.ts'
import { serviceToolsPart } from './parts.ts'
import { readTools } from './read-tools.ts'
import { compareList, definitionKinds, isResource, kindOf, type ListedTool } from './rules.ts'

/** `new`: never accepted. `changed`: differs from what was accepted, or did so since. `absent`: the service lists it no more. */
const reviewStates = ['new', 'accepted', 'changed', 'absent'] as const

const reviewedTool = z
  .strictObject({
    name: z.string().meta({ description: 'Of a resource, its URI' }),
    kind: z.enum(definitionKinds),
    offered_as: z.string(),
    state: z.enum(reviewStates),
    sha256: z.string().optional().meta({ description: 'Of the listed definition with its name, as canonical JSON' }),
    definition: serviceDefinition.optional().meta({ description: 'As the service lists it now: untrusted text' }),
    accepted: z
      .strictObject({
        sha256: z.string(),
        definition: serviceDefinition,
        permission: z.string(),
        accepted_by: z.string(),
        accepted_at: z.iso.datetime(),
      })
      .optional(),
    findings: z
      .array(z.strictObject({ kind: z.enum(findingKinds), excerpt: z.string() }))
      .meta({ description: 'Marks of a definition that was written to mislead a model' }),
  })
  .meta({ id: 'ReviewedTool' })

export const review = operation({
  summary:
    'Read the tools and resources that a registered service lists now, beside what was accepted; holds those that have changed',
  method: 'GET',
  path: '/api/v2/gateway/service/{name}/tool',
  input: z.strictObject({
    name: serviceName,
    authentication: z
      .enum(toolAuthentications)
      .optional()
      .meta({ description: 'Default: as accepted before, else delegated; none for a server of the site' }),
  }),
  output: z
    .strictObject({
      service: serviceName,
      url: z.string(),
      authentication: z.enum(toolAuthentications),
      input: z.array(z.enum(inputKinds)).meta({ description: 'What its tools may request of clients now' }),
      tools: z.array(reviewedTool),
      trouble: z.string().optional().meta({ description: 'Why its resources cannot be read' }),
    })
    .meta({ id: 'ToolReview' }),
  errors: ['not_found', 'not_your_tenant', 'wrong_state'],
  allow: 'gateway:admin',

  async run(call, { name: service, authentication: requested }) {
    const endpoint = await requireEndpoint(call, service)
    if (isRefusal(endpoint)) return endpoint
    const approval = await call.store(toolApprovals).find(service)
    const authentication = chooseAuthentication(endpoint, requested, approval?.value.authentication)
    if (isRefusal(authentication)) return authentication
    const read = await readTools(call, endpoint, authentication)
    if (isRefusal(read)) return read
    const { listed, ...trouble } = read
    const known = (await loadAcceptedTools(call, service)).map(({ value }) => value)
    // Of resources that cannot be read, nobody knows which are absent.
    const accepted = known.filter(({ definition }) => read.trouble === undefined || !isResource(definition))
    // A service that reports no changes would be called under the accepted definitions until its list is read again.
    await holdTools(call, service, compareList(accepted, listed).changed)
    const tools = await reviewTools(call, service, listed, accepted)
    const input = approval?.value.input ?? []
    return { service, url: endpoint.url.href, authentication, input, tools, ...trouble }
  },
})

type ReviewedTool = z.output<typeof reviewedTool>

async function reviewTools(
  call: Call,
  service: string,
  listed: readonly ListedTool[],
  accepted: readonly AcceptedTool[],
): Promise<ReviewedTool[]> {
  const others = await loadToolNames(call, service)
  const known = new Map(accepted.map((tool) => [tool.name, tool]))
  const reviewed: ReviewedTool[] = []
  for (const tool of listed) {
    reviewed.push(reviewListed(service, tool, known.get(tool.name), others))
    known.delete(tool.name)
    await call.pause()
  }
  return [...reviewed, ...[...known.values()].map((tool) => reviewAbsent(service, tool))]
}

function reviewListed(
  service: string,
  tool: ListedTool,
  accepted: AcceptedTool | undefined,
  others: ReadonlySet<string>,
): ReviewedTool {
  const { name, sha256, definition } = tool
  const isSame = accepted !== undefined && accepted.held === undefined && accepted.sha256 === sha256
  return {
    ...{ name, kind: kindOf(definition), sha256, offered_as: offeredName({ service, name }) },
    state: accepted === undefined ? 'new' : isSame ? 'accepted' : 'changed',
    definition: serviceDefinition.parse(definition),
    ...(accepted ? { accepted: showAccepted(accepted) } : {}),
    findings: [...findToolFindings(tool, others)],
  }
}

function reviewAbsent(service: string, tool: AcceptedTool): ReviewedTool {
  const { name } = tool
  return {
    name,
    kind: kindOf(tool.definition),
    offered_as: offeredName({ service, name }),
    state: 'absent',
    accepted: showAccepted(tool),
    findings: [],
  }
}

function showAccepted({ sha256, definition, permission, accepted_by, accepted_ts }: AcceptedTool) {
  return { sha256, definition, permission, accepted_by, accepted_at: new Date(accepted_ts).toISOString() }
}

/** Names of the tools of other services: those of the site, and accepted ones. */
async function loadToolNames(call: Call, service: string): Promise<ReadonlySet<string>> {
  const names = new Set([...call.part(serviceToolsPart).own.values()].flatMap((own) => [...own]))
  for await (const { value } of iterateDocuments(call.store(acceptedTools), {}))
    if (value.service !== service) names.add(value.name)
  return names
}
