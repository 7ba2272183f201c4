// A landing that cannot be completed, for a reason that its caller can change.

/** The message is a full sentence. `details`: a line each. */
export class LandingError extends Error {
  /** Whether the folder of the dataset exists already. */
  readonly isTaken: boolean
  readonly remedy: string | undefined
  readonly details: readonly string[]
  constructor(message: string, remedy?: string, details: readonly string[] = [], isTaken = false) {
    super(message)
    this.name = 'LandingError'
    this.remedy = remedy
    this.details = details
    this.isTaken = isTaken
  }
}
