// Faults of a profile: where they are, and the errors that report them.

export type ProfileProblem = { readonly path: string; readonly message: string }

/** A profile that cannot be used; `problems` names every fault with its place. */
export class ProfileError extends Error {
  readonly problems: readonly ProfileProblem[]
  constructor(problems: readonly ProfileProblem[]) {
    super(problems.map(({ path, message }) => `${path}: ${message}`).join('\n'))
    this.name = 'ProfileError'
    this.problems = problems
  }
}

/** Settings that are well formed, and with which the site must not run. */
export class StartRefusal extends ProfileError {
  constructor(problems: readonly ProfileProblem[]) {
    super(problems)
    this.name = 'StartRefusal'
  }
}
