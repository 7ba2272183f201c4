// How much may wait for the cluster, behind one document and in all: whoever comes beyond is told at once to come again.
import type { StoredFields } from '../../../daemon/kernel/store/store.ts'
import { ClusterFailure } from './failure.ts'

export type Room = { readonly writes: number; readonly bytes: number }
/** As many as may wait in all may be in doubt. */
export type Rooms = { readonly each: Room; readonly all: Room }

/** A document takes some hundred writes a second; callers of a listener are a thousand at most. */
export const usual_rooms: Rooms = {
  each: { writes: 500, bytes: 16_000_000 },
  all: { writes: 10_000, bytes: 64_000_000 },
}

/** What an update holds is known in its turn alone; a contribution has some kilobytes. */
export const bytes_of_update = 16_000

export function bytesIn(value: StoredFields): number {
  return JSON.stringify(value).length
}

const empty: Room = { writes: 0, bytes: 0 }

export class WaitingRoom {
  readonly #rooms: Rooms
  readonly #held = new Map<string, Room>()
  #all = empty

  constructor(rooms: Rooms) {
    this.#rooms = rooms
  }

  /** Answers with the way out. @throws ClusterFailure (`undone`) when there is no room. */
  enter(key: string, bytes: number): () => void {
    const { each, all } = this.#rooms
    const held = this.#held.get(key) ?? empty
    if (isFull(held, bytes, each)) throw new ClusterFailure('undone', 'too many writes wait for this document')
    if (isFull(this.#all, bytes, all)) throw new ClusterFailure('undone', 'too many writes wait')
    this.#change(key, 1, bytes)
    return () => this.#change(key, -1, -bytes)
  }

  #change(key: string, writes: number, bytes: number): void {
    const held = sum(this.#held.get(key) ?? empty, writes, bytes)
    if (held.writes === 0) this.#held.delete(key)
    else this.#held.set(key, held)
    this.#all = sum(this.#all, writes, bytes)
  }
}

/** The first always finds room: what is too large alone is for the cluster to say. */
function isFull(held: Room, bytes: number, most: Room): boolean {
  return held.writes > 0 && (held.writes >= most.writes || held.bytes + bytes > most.bytes)
}

function sum(held: Room, writes: number, bytes: number): Room {
  return { writes: held.writes + writes, bytes: held.bytes + bytes }
}
