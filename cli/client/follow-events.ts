// The events of a stream of a service, until it ends.
import { refusalFromProblem } from '../../daemon/kernel/error/problem.ts'
import type { ServerEvent } from '../../daemon/kernel/operation/operation.ts'
import type { ApiObject, ServiceClient } from './client.ts'

/** `after`: the id of the last known event. Throws the problem with which a failed service ends the stream. */
export async function* followEvents(
  api: ServiceClient,
  address: string,
  input: ApiObject,
  after: string | undefined,
): AsyncGenerator<ServerEvent> {
  const extras = { resumes: true, ...(after === undefined ? {} : { last_event_id: after }) }
  for await (const event of api.stream(address, input, extras)) {
    if (event.event === 'problem') throw refusalFromProblem(event.data, 500)
    yield event
  }
}
