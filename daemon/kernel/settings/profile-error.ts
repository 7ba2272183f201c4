// Faults of a profile: where they are, and the errors that report them.

export type ProfileProblem = { readonly path: string; readonly message: string }

/** A profile that cannot be used. `problems` lists every fault with its path. */
export class ProfileError extends Error {
  readonly problems: readonly ProfileProblem[]
  constructor(problems: readonly ProfileProblem[]) {
    super(problems.map(({ path, message }) => `${path}: ${message}`).join('; '))
    this.name = 'ProfileError'
    this.problems = problems
  }
}

/** Settings that are well formed, but with which the site must not start. */
export class StartRefusal extends ProfileError {
  constructor(problems: readonly ProfileProblem[]) {
    super(problems)
    this.name = 'StartRefusal'
  }
}
