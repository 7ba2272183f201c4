// The error of a command that works on the site's files, with the exit code for scripts.

/** 1: not found or failed. 2: wrong usage. 3: the state of the site forbids it. 4: not reachable. 5: it does not verify. */
export type OfflineExitCode = 1 | 2 | 3 | 4 | 5

/**
 * The message is one line for the person at the terminal, who owns these files: it may name paths, but no secrets. Each of
 * `details` is a line below it.
 */
export class OfflineCommandError extends Error {
  readonly exit: OfflineExitCode
  readonly remedy: string | undefined
  readonly details: readonly string[]

  constructor(exit: OfflineExitCode, message: string, remedy?: string, details: readonly string[] = []) {
    super(message)
    this.name = 'OfflineCommandError'
    this.exit = exit
    this.remedy = remedy
    this.details = details
  }
}
