// How tests follow the events of a session, and what they pick from them.
import { type Transition, transition } from '../../../daemon/roles/consensus/session/model.ts'
import { type EventReader, readEvents } from '../../support/event-reader.ts'
import type { Person } from '../../support/person.ts'
import type { SiteWorld } from '../../support/site-world.ts'

/** `after`: the Last-Event-ID. */
export function followed(world: SiteWorld, { token }: Person, id: string, after?: string): Promise<EventReader> {
  return readEvents(world.url('consensus'), `/api/v2/consensus/session/${id}/events`, token, after)
}

/** Changes of state, whatever else the stream has told. */
export function steps({ seen }: EventReader): Transition[] {
  return seen.filter(({ event }) => event === 'state').map(({ data }) => transition.parse(data))
}

export function states(reader: EventReader): string[] {
  return steps(reader).map(({ to }) => to)
}

export function numbersIn({ seen }: EventReader): number[] {
  return seen.map(({ id }) => Number(id))
}
