// Reports a failure as one line with its remedy, and returns the exit code that scripts rely on.
import { errorTable, isRefusal } from '../../daemon/kernel/error/errors.ts'
import { colourText, escapeControls } from '../terminal/output.ts'
import type { Terminal } from '../terminal/terminal.ts'
import { type CommandExitCode, CommandFailure } from './command.ts'

/** Remedy by error code. */
const remedies: Readonly<Partial<Record<keyof typeof errorTable, string>>> = {
  unauthenticated: 'use a token that the site issued and has not revoked: `platform token mint`, then PLATFORM_TOKEN',
  forbidden: 'use a token with a role that permits it; `platform token inspect` shows what yours says',
  conflict: 'read it again and repeat the change',
  rate_limited: 'wait a little and repeat',
  unavailable: '`platform status` shows what runs, `platform doctor` what is wrong',
  timeout: '`platform status` shows what runs, `platform doctor` what is wrong',
  internal: 'the log of the service has the cause',
}

/** Prints why a command failed, to stderr; what it returns is the exit code. */
export function reportFailure(terminal: Terminal, error: unknown): CommandExitCode {
  terminal.progress('')
  if (isRefusal(error)) {
    const { title, exit } = errorTable[error.code]
    printError(terminal, `${title}: ${error.message}`, error.errors, remedies[error.code])
    return exit
  }
  if (error instanceof CommandFailure || isOfflineCommandError(error)) {
    printError(terminal, error.message, [], error.remedy)
    return error.exit
  }
  if (error instanceof Error && error.name === 'Locked') {
    printError(
      terminal,
      error.message,
      [],
      'name the file that contains it: --passphrase-file FILE, or identity.keys_passphrase_file',
    )
    return 3
  }
  if (hasProblems(error)) {
    const mayNotStart = error.name === 'StartRefusal'
    const what = mayNotStart ? 'the start checks refuse to start the site' : 'the profile is not valid'
    printError(
      terminal,
      what,
      error.problems,
      mayNotStart ? undefined : '`platform profile schema` shows what is allowed',
    )
    return mayNotStart ? 3 : 1
  }
  const closed = findDeniedPath(error)
  if (closed !== undefined) {
    printError(terminal, `this user may not open ${closed}`, [], 'run it as the owner of that file, or as root')
    return 3
  }
  printError(terminal, error instanceof Error ? error.message : String(error), [], undefined)
  if (terminal.env.PLATFORM_DEBUG && error instanceof Error) terminal.note(error.stack ?? '')
  return 1
}

function printError(
  terminal: Terminal,
  message: string,
  errors: readonly { path: string; message: string }[],
  remedy: string | undefined,
): void {
  terminal.note(`${colourText(terminal, 'red', 'error:')} ${escapeControls(message)}`)
  for (const { path, message: fault } of errors)
    terminal.note(escapeControls(path ? `  ${path}: ${fault}` : `  ${fault}`))
  if (remedy) terminal.note(`  ${remedy}`)
}

/** Tests the name of the class, which is in daemon/: its module must not be loaded just to report a failure. */
function isOfflineCommandError(error: unknown): error is Error & { exit: CommandExitCode; remedy: string | undefined } {
  return error instanceof Error && error.name === 'OfflineCommandError' && 'exit' in error
}

/** The path that the operating system refused to open. */
function findDeniedPath(error: unknown): string | undefined {
  const { code, path } = error instanceof Error ? (error as NodeJS.ErrnoException) : {}
  return code === 'EACCES' ? path : undefined
}

function hasProblems(error: unknown): error is Error & { problems: readonly { path: string; message: string }[] } {
  return error instanceof Error && /^(ProfileError|StartRefusal)$/.test(error.name) && 'problems' in error
}
