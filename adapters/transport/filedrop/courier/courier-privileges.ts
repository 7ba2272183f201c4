// Whose hand does what: a command that root started touches the site as its user, and the medium as whoever typed it.

export type CourierPrivileges = {
  /** Runs `act` as the owner of the channels. */
  site<T>(act: () => T): T
  /** Runs `act` as the person with the medium. */
  medium<T>(act: () => T): T
}

/** Messages done, and how many there are. */
export type CourierProgress = (done: number, all: number) => void
