// The name under which the gateway offers a tool of a service, and the URI of a resource.
import { offeredUri } from '../resource/resource-uri.ts'
import { aggregatedName } from '../tool/aggregated-tool.ts'

/** Names of tools have no colon, and each URI has one. */
export function offeredName({ service, name }: { readonly service: string; readonly name: string }): string {
  return name.includes(':') ? offeredUri(service, name) : aggregatedName({ service, name })
}
