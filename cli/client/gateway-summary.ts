// The activity of a gateway in a few figures: its services, their tools, quotas that are nearly used up, the last denials.
import { isRefusal } from '../../daemon/kernel/error/errors.ts'
import type { DocumentTotal } from '../../daemon/kernel/store/store.ts'
import type { ApiObject, ServiceClient } from './client.ts'
import { fetchItems, type ItemPage } from './fetch-items.ts'
import { denialRecords, readDenialRow } from './guardrail-rows.ts'

/** Objects of the whole list, and of those that were read, how many have each state. */
type StateCounts = DocumentTotal & { readonly states: Readonly<Record<string, number>> }

/** A part that could not be read says why. */
export type GatewaySummary = Readonly<Record<'services' | 'tools' | 'quotas' | 'denials', ApiObject>>

/** A part that takes longer is left out: `platform status` waits for nobody. */
const timeout_ms = 4_000
const max_read = 500
const max_shown = 5

/** Never throws. Lists of the gateway alone: no registered service is called. */
export async function fetchGatewaySummary(client: Pick<ServiceClient, 'call'>): Promise<GatewaySummary> {
  const call = (address: string, input: ApiObject) => client.call(address, input, { timeout_ms })
  const list = (address: string, limit = max_read, input: ApiObject = {}) =>
    fetchItems({ call }, address, input, { limit })
  const readers = {
    services: async () => countStates(await list('gateway.registered-service.list')),
    tools: async () => countStates(await list('gateway.service-tool.list')),
    quotas: async () => selectLeast(await list('gateway.quota.list')),
    denials: async () => {
      const page = await list(denialRecords.operation, max_shown, denialRecords.input)
      return { total: page.total, total_is: page.total_is, last: page.items.map(readDenialRow) }
    },
  }
  const read = (reader: () => Promise<ApiObject>) => reader().catch(describeFault)
  const [services, tools, quotas, denials] = await Promise.all([
    read(readers.services),
    read(readers.tools),
    read(readers.quotas),
    read(readers.denials),
  ])
  return { services, tools, quotas, denials }
}

function countStates({ items, total, total_is }: ItemPage): StateCounts {
  const states: Record<string, number> = {}
  for (const { state } of items) states[String(state)] = (states[String(state)] ?? 0) + 1
  return { total, total_is, states }
}

/** Callers whose quotas leave the least, in comparison with the limit. */
function selectLeast({ items, total, total_is }: ItemPage): ApiObject {
  const least = items
    .flatMap(({ subject, kind, target, quotas }) =>
      (quotas as readonly ApiObject[]).map((quota): ApiObject => ({ subject, kind, target, ...quota })),
    )
    .filter(({ used }) => used !== 0)
    .sort((one, other) => shareLeft(one) - shareLeft(other))
  // A quota counts all targets of its caller: it is shown once.
  const distinct = new Map<string, ApiObject>()
  for (const row of least) {
    const key = JSON.stringify([row.guardrail, row.window_s, row.subject])
    if (!distinct.has(key)) distinct.set(key, row)
  }
  return { total, total_is, least: [...distinct.values()].slice(0, max_shown) }
}

const shareLeft = ({ left, limit }: ApiObject) => Number(left) / Number(limit)

function describeFault(error: unknown): ApiObject {
  if (!isRefusal(error)) return { fault: String(error) }
  return { fault: error.message }
}
