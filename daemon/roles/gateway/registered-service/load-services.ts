// Loads every registered service, as the gateway shows it.
import type { Call } from '../../../kernel/operation/call.ts'
import type { RegisteredService } from '../../../shared/service-registry/registered-service.ts'
import { services } from './model.ts'
import { showService } from './rules.ts'

/** At most `max_services`, and the few of the profile. */
export async function loadServices(call: Call): Promise<readonly RegisteredService[]> {
  const filter = { state: { in: ['live', 'unverified'] } }
  const loaded: RegisteredService[] = []
  let cursor: string | undefined
  do {
    const { docs, next_cursor } = await call
      .store(services)
      .list({ filter, limit: 500, ...(cursor === undefined ? {} : { cursor }) })
    for (const { value } of docs) loaded.push(showService(value, call.now()))
    cursor = next_cursor
  } while (cursor !== undefined)
  return loaded
}
