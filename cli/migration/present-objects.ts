// The objects of this site that a migration compares with those of the former service.
import * as z from 'zod'
import type { ServiceClient } from '../client/client.ts'
import { fetchAllItems } from '../client/fetch-items.ts'
import type { PresentObjects } from './plan.ts'

const connections = z.array(z.looseObject({ uid: z.string(), name: z.string(), conn_type: z.string() }))
const pipelines = z.array(z.looseObject({ uid: z.string(), dag_id: z.string(), status: z.string() }))

export async function fetchPresent(api: ServiceClient): Promise<PresentObjects> {
  return {
    connections: connections.parse(await fetchAllItems(api, 'ingest.connection.list', {})),
    pipelines: pipelines.parse(await fetchAllItems(api, 'ingest.datapipeline.list', {})),
  }
}
