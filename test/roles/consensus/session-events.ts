// Helpers that follow and select the events of a session.
import { type Transition, transition } from '../../../daemon/roles/consensus/session/model.ts'
import type { CheckedClient } from '../../support/http/checked-client.ts'
import { type EventReader, openEventReader } from '../../support/http/event-reader.ts'
import type { TestSite } from '../../support/site/test-site.ts'

/** `after`: the Last-Event-ID. */
export function followSession(
  world: TestSite,
  { token }: CheckedClient,
  id: string,
  after?: string,
): Promise<EventReader> {
  return openEventReader(world.url('consensus'), `/api/v2/consensus/session/${id}/events`, token, after)
}

/** The changes of state among the events of the stream. */
export function listTransitions({ events }: EventReader): Transition[] {
  return events.filter(({ event }) => event === 'state').map(({ data }) => transition.parse(data))
}

export function listStates(reader: EventReader): string[] {
  return listTransitions(reader).map(({ to }) => to)
}

export function listEventNumbers({ events }: EventReader): number[] {
  return events.map(({ id }) => Number(id))
}
