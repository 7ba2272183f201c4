// The position of a reader in the feed of commits. Records are in the order in which they were stored; as processes differ in
// their clocks and a write takes a while, one may appear behind a later one: the last seconds are read again.

export type CommitPlace = { readonly value: number; readonly id: string }

const overlap_ms = 5_000
/** Of places within the overlap: beyond them, the oldest are not read again. */
const max_places = 1_000

/** The id of an event. */
export function formatPosition({ value, id }: CommitPlace): string {
  return `${value}.${id}`
}

/** Undefined for another id than those of the feed: it begins now. */
export function parsePosition(last_event_id: string | undefined): CommitPlace | undefined {
  const [, value, id] = /^(\d{1,15})\.(.{0,300})$/.exec(last_event_id ?? '') ?? []
  return value === undefined || id === undefined ? undefined : { value: Number(value), id }
}

export class CommitPosition {
  /** Nothing at or before it is read again. */
  #floor: CommitPlace
  /** Taken places after the floor. */
  #taken = new Map<string, CommitPlace>()
  #newest_ts: number

  constructor(start: CommitPlace) {
    this.#floor = start
    this.#newest_ts = start.value
  }

  /** Where the next reading begins. Places before the overlap are forgotten; one in the future moves it no further than now. */
  nextStart(now: number): CommitPlace {
    const places = [...this.#taken.values()].sort(comparePlaces)
    const least_ts = Math.min(this.#newest_ts, now) - overlap_ms
    const obsolete = places.filter(({ value }, at) => value < least_ts || at < places.length - max_places)
    for (const place of obsolete) this.#taken.delete(formatPosition(place))
    this.#floor = obsolete.at(-1) ?? this.#floor
    return this.#floor
  }

  /** False: the reader has it. */
  take(place: CommitPlace): boolean {
    const key = formatPosition(place)
    if (this.#taken.has(key)) return false
    this.#taken.set(key, place)
    this.#newest_ts = Math.max(this.#newest_ts, place.value)
    // A reader of a long past has many more places in one reading.
    if (this.#taken.size > 2 * max_places) this.nextStart(place.value)
    return true
  }
}

function comparePlaces(one: CommitPlace, other: CommitPlace): number {
  return one.value - other.value || (one.id < other.id ? -1 : 1)
}
