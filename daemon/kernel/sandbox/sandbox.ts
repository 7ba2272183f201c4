// The contract for a command that may be hostile, or that reads hostile data: what it may see, use and harm is bounded.

/** Bounds of a program with everything that it starts. Whichever is reached first ends all of it. */
export type SandboxProcessLimits = {
  /** Processor time of each process, in whole seconds. */
  readonly cpu_s: number
  /** Memory of all its processes together with files in memory, and address space of each of them. */
  readonly memory_bytes: number
  /** Address space of each process instead, for a runtime that reserves much of it and uses little. */
  readonly address_space_bytes?: number
  /** Files that it writes, together; each of them where the sandbox has no file system of its own. */
  readonly disk_bytes: number
  /** Processes and threads that exist at a time. */
  readonly processes: number
  /** Open files of each process. */
  readonly open_files: number
}

/** Bounds of a command that runs to its end. */
export type SandboxLimits = SandboxProcessLimits & {
  /** From start to end. */
  readonly time_ms: number
  /** What it prints, on both streams together; 0: nothing is kept, and nothing that it prints ends it. */
  readonly output_bytes: number
}

export type SandboxCommand = SandboxProgram & { readonly limits: SandboxLimits }

/** A server: it runs until it ends or is ended, and what it prints is for the reader of its streams. */
export type SandboxServer = SandboxProgram & {
  readonly limits: SandboxProcessLimits
  /** Variables that it gets besides `PATH`, `HOME`, `TMPDIR` and `LANG`; nobody but its own user sees their values. */
  readonly env: Readonly<Record<string, string>>
  /** `machine`: it has the network of the machine, whose name resolution and authorities must be among `visible`. */
  readonly network: 'none' | 'machine'
}

type SandboxProgram = {
  /** Absolute path of the program. */
  readonly program: string
  /** Arguments. One that names an input becomes the path of that input inside. */
  readonly args: readonly (string | { readonly input: string })[]
  /** Files for the command to read, by the name that its copy has inside: letters, digits, `.`, `_` and `-`. */
  readonly inputs: Readonly<Record<string, string>>
  /** Absolute paths that it sees, read-only, besides the program and the libraries of the operating system. */
  readonly visible: readonly string[]
}

/** The streams of a server while it runs. Reading ends with the server, and throws nothing. */
export type SandboxStreams = {
  /** Resolves once the server has taken the bytes, or has ended. */
  write(bytes: Uint8Array): Promise<void>
  /** Closes its standard input, on which a sound server ends by itself. */
  endInput(): void
  readonly stdout: AsyncIterable<Uint8Array>
  readonly stderr: AsyncIterable<Uint8Array>
}

export type SandboxOutput = { readonly stdout: Uint8Array; readonly stderr: Uint8Array }

export type SandboxResult =
  | ({ readonly kind: 'exited'; readonly code: number } & SandboxOutput)
  /** A code above 128 is read as a signal, as shells report one. */
  | ({ readonly kind: 'signalled'; readonly signal: string } & SandboxOutput)
  | ({ readonly kind: 'exceeded'; readonly limit: ExceededLimit } & SandboxOutput)
  | { readonly kind: 'cancelled' }
  /** The program did not run: it is absent, may not be run, or the sandbox could not be made. */
  | { readonly kind: 'not_started'; readonly detail: string }

/** The limits whose end is seen from outside; at the others a call of the command fails, and it decides itself. */
export type ExceededLimit = 'time_ms' | 'cpu_s' | 'memory_bytes' | 'output_bytes'

/**
 * `namespaces`: no network, no file of the machine but those that are visible, no process but its own; nothing outlives
 * the command or this process. `limits`: only the limits hold; the command has the rights and the files of its user.
 * What weakens either on this machine is in `shortfalls`.
 */
export type SandboxIsolation = 'namespaces' | 'limits'

export type Sandbox = {
  readonly isolation: SandboxIsolation
  /** What the kernel of this machine does not give, each with its reason. */
  readonly shortfalls: readonly string[]
  /**
   * Resolves when the command has ended, with everything it started; its files are gone then. What cannot be ended is
   * waited for a few seconds. A limit that this process may not set is `not_started`. Never throws.
   */
  run(command: SandboxCommand, signal?: AbortSignal): Promise<SandboxResult>
  /**
   * Runs a server until it ends, or the signal ends it with everything it started. `attach` receives its streams, once it is
   * started. Its output is in none of the results. Never throws.
   */
  serve(server: SandboxServer, attach: (streams: SandboxStreams) => void, signal: AbortSignal): Promise<SandboxResult>
}

/** Names are short and plain, because they become paths. */
export const input_name = /^[A-Za-z0-9][\w.-]{0,199}$/

/** So many inputs have a command: each takes one of the ten descriptors that a shell can name. */
export const max_inputs = 5
