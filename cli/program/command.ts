// The definition of a command: its words, parameters, help, example, and the function that runs it.
import type { Terminal } from '../terminal/terminal.ts'

/** A parameter of a command, positional or an option. `parse` throws `InvalidParamError` for text it cannot use. */
export type Param<T> = {
  /** The placeholder in help; undefined for a switch. */
  readonly metavar: string | undefined
  readonly help: string
  readonly isRequired: boolean
  /** What to write, for somebody who left out a mandatory option. */
  readonly remedy?: string
  /** Takes all following words: all remaining ones if positional, those up to the next option otherwise. */
  readonly isRest: boolean
  readonly parse: (text: string) => unknown
  /** The value if the parameter is absent. */
  readonly defaultValue: T
}

// biome-ignore lint/suspicious/noExplicitAny: a record of parameters of different types
export type Params = Readonly<Record<string, Param<any>>>

export type ParsedParams<P extends Params> = { readonly [K in keyof P]: P[K] extends Param<infer T> ? T : never }

/** 0 done, 1 failed, 2 usage, 3 refused, 4 not reachable, 5 found a problem, 6 a result of poor estimated quality. */
export type CommandExitCode = 0 | 1 | 2 | 3 | 4 | 5 | 6

export type CommandDefinition<T extends Params = Params, O extends Params = Params> = {
  /** The words typed, which are also the path of the file. */
  readonly words: string
  readonly summary: string
  /** Further help text, below the summary. */
  readonly notes?: string
  /** Positional parameters, in this order. */
  readonly positionals?: T
  /** Options; `portBase` is typed `--port-base`. */
  readonly options?: O
  /** A working command line, without the leading `$`. */
  readonly example: string
  /** Resolves to the exit code. Throws `Refusal` or `CommandFailure`. A method, so that one list fits all commands. */
  run(params: ParsedParams<T> & ParsedParams<O>, terminal: Terminal): Promise<CommandExitCode>
}

// biome-ignore lint/suspicious/noExplicitAny: a list of commands that take different things
export type AnyCommandDefinition = CommandDefinition<any, any>

export type NoParams = Readonly<Record<never, never>>

/** Declares a command. Exists for the types: `run` receives exactly the declared parameters. */
export function command<const T extends Params = NoParams, const O extends Params = NoParams>(
  definition: CommandDefinition<T, O>,
): CommandDefinition<T, O> {
  return definition
}

/** Text that a parameter cannot use; the message ends the sentence "value … is invalid". */
export class InvalidParamError extends Error {}

/** A failure with its exit code and, if known, a remedy. */
export class CommandFailure extends Error {
  readonly exit: CommandExitCode
  readonly remedy: string | undefined
  constructor(exit: CommandExitCode, message: string, remedy?: string) {
    super(message)
    this.name = 'CommandFailure'
    this.exit = exit
    this.remedy = remedy
  }
}
