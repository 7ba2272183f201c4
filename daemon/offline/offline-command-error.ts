// Why a command that works on the site's files will not do as it was told, with the exit code that says so to scripts.

/** 1: there is no such thing. 2: it was asked wrongly. 3: the state of the site forbids it. 5: it does not verify. */
export type OfflineExitCode = 1 | 2 | 3 | 5

/** The message is for the person at the terminal, who owns these files: it may name paths, never a secret. */
export class OfflineCommandError extends Error {
  readonly exit: OfflineExitCode
  readonly remedy: string | undefined

  constructor(exit: OfflineExitCode, message: string, remedy?: string) {
    super(message)
    this.name = 'OfflineCommandError'
    this.exit = exit
    this.remedy = remedy
  }
}
