// The steps of a courier command, on its two sides: what may fail or end between them is up to the caller.

export type CourierSteps = {
  /** Runs one step on the folders of the site. */
  site<T>(act: () => T): T
  /** Runs one step on the medium. */
  medium<T>(act: () => T): T
}

/** Messages done, and how many there are. */
export type CourierProgress = (done: number, all: number) => void
