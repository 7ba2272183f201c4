// A resource of another service as the gateway offers it: under a URI with the name of its service, described as the service does.
import * as z from 'zod'
import type { PassedResource } from '../../../kernel/api/passed-resources.ts'
import { isRefusal, type Refusal, refuse } from '../../../kernel/error/errors.ts'
import type { Call } from '../../../kernel/operation/call.ts'
import type { AnyOperation } from '../../../kernel/operation/operation.ts'
import { decodeEscapes } from '../../../kernel/text/decode-escapes.ts'
import { max_read_uri, PassedContents, type RemoteResource } from '../../../kernel/tools/remote-resource.ts'
import type { UntrustedObject } from '../../../kernel/tools/tool-service.ts'
import { resourceReadTotal } from '../metrics.ts'
import { guardUse } from '../tool/guard-use.ts'
import { requestToken, type TokenTarget } from '../tool/request-token.ts'
import { offerContents } from './offer-uris.ts'
import { findUriFault, offeredUri, uriAtService } from './resource-uri.ts'

/** `service`: its name in service-info. */
export type AggregatedResource = TokenTarget & {
  /** As the service lists it. */
  readonly resource: RemoteResource
  readonly declared: Pick<AnyOperation, 'allow' | 'time_limit_ms'>
  /** Reads the document of a URI at the service, by this token. Returns its contents or a refusal; throws one that may be over soon. */
  readonly read: (call: Call, uri: string, token: string | undefined) => Promise<readonly UntrustedObject[] | Refusal>
}

/** One address for the resources of all services: the metric of reads is of the gateway. */
const resource_read_address = 'gateway.resource.read'

/** As offered: longer than the URI at the service by the name of that. */
const readInput = z.strictObject({ uri: z.string().max(max_read_uri + 256) })

export function toPassedResource(aggregated: AggregatedResource): PassedResource {
  const { service, resource, declared } = aggregated
  return {
    ...resource,
    uri: offeredUri(service, resource.uri),
    target: {
      address: resource_read_address,
      role: 'gateway',
      operation: {
        ...declared,
        // A read does whatever its service does: its refusals are audited as those of tools are.
        method: 'POST',
        surface: 'agentspace',
        summary: resource.description ?? resource.name,
        input: readInput,
        output: z.unknown(),
        errors: [],
        run: (call: Call, { uri }: z.output<typeof readInput>) => readResource(call, aggregated, uri),
      },
    },
  }
}

async function readResource(
  call: Call,
  aggregated: AggregatedResource,
  offered: string,
): Promise<PassedContents | Refusal> {
  const { service, resource } = aggregated
  call.nameTarget({ id: offered })
  const uri = uriAtService(service, offered)
  if (uri === undefined) return refuse('not_found', 'the URI is not that of an accepted resource')
  const fault = findUriFault(resource, uri)
  if (fault !== undefined) return refuse('invalid', `the URI ${fault}`, [{ path: 'uri', message: fault }])
  const texts = [...new Set([uri, decodeEscapes(uri)])]
  const use = { kind: 'resource', service, tool: offered, body_bytes: Buffer.byteLength(uri), texts } as const
  const limits = await guardUse(call, use)
  if (isRefusal(limits)) return limits
  const counted = (outcome: 'answered' | 'refused') => call.count(resourceReadTotal, { service, outcome })
  try {
    const token = await requestToken(call, aggregated, limits.ceiling)
    const contents = isRefusal(token) ? token : await aggregated.read(call, uri, token)
    counted(isRefusal(contents) ? 'refused' : 'answered')
    return isRefusal(contents) ? contents : new PassedContents(offerContents(service, contents))
  } catch (error) {
    counted('refused')
    throw error
  }
}
