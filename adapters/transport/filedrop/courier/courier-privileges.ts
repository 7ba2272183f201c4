// Privileges of a courier command that root starts: the site's user for the site, the calling user for the medium.

export type CourierPrivileges = {
  /** Runs `act` as the owner of the channels. */
  site<T>(act: () => T): T
  /** Runs `act` as the person with the medium. */
  medium<T>(act: () => T): T
}

/** Messages done, and how many there are. */
export type CourierProgress = (done: number, all: number) => void
