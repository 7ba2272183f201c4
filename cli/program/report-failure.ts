// Turns whatever went wrong into one line that helps and the exit code that scripts rely on.
import { errorTable, isRefusal } from '../../daemon/kernel/error/errors.ts'
import { colourText, escapeControls } from '../terminal/output.ts'
import type { Terminal } from '../terminal/terminal.ts'
import { type CommandExitCode, CommandFailure } from './command.ts'

/** What to do next, by the code of a refusal. */
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
      'name the file that holds it: --passphrase-file, or identity.keys_passphrase_file',
    )
    return 3
  }
  if (hasProblems(error)) {
    const mayNotStart = error.name === 'StartRefusal'
    const what = mayNotStart ? 'the site may not run like this' : 'the profile cannot be used'
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
    printError(terminal, `this user may not open ${closed}`, [], 'run it as the user to whom it belongs, or as root')
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

/** By name: the classes of these two live in boot, which must not be loaded just to fail. */
function isOfflineCommandError(error: unknown): error is Error & { exit: CommandExitCode; remedy: string | undefined } {
  return error instanceof Error && error.name === 'OfflineCommandError' && 'exit' in error
}

/** What the system has refused to open. */
function findDeniedPath(error: unknown): string | undefined {
  const { code, path } = error instanceof Error ? (error as NodeJS.ErrnoException) : {}
  return code === 'EACCES' ? path : undefined
}

function hasProblems(error: unknown): error is Error & { problems: readonly { path: string; message: string }[] } {
  return error instanceof Error && /^(ProfileError|StartRefusal)$/.test(error.name) && 'problems' in error
}
