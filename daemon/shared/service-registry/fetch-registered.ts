// The services that are registered with the gateway, for another role of the site.
import * as z from 'zod'
import { isRefusal, type Refusal } from '../../kernel/error/errors.ts'
import { operationContract, type RoleClients } from '../../kernel/operation/operation-contract.ts'
import { registeredService } from './registered-service.ts'

const page_items = 500
const listRegisteredServices = operationContract({
  address: 'gateway.registered-service.list',
  input: z.strictObject({ limit: z.int().optional(), cursor: z.string().optional() }),
  output: z.looseObject({ items: z.array(registeredService), next_cursor: z.string().optional() }),
})

/** All of them, page by page. Throws `Refusal('unavailable')` while the gateway cannot be reached. */
export async function fetchRegisteredServices({
  roles,
}: {
  readonly roles: RoleClients
}): Promise<z.output<typeof registeredService>[] | Refusal> {
  const services: z.output<typeof registeredService>[] = []
  let cursor: string | undefined
  do {
    const page = await roles.request(listRegisteredServices, {
      limit: page_items,
      ...(cursor === undefined ? {} : { cursor }),
    })
    if (isRefusal(page)) return page
    services.push(...page.items)
    cursor = page.next_cursor
  } while (cursor !== undefined)
  return services
}
