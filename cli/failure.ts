// Turns whatever went wrong into one line that helps and the exit code that scripts rely on.
import { errorTable, isRefused } from '../daemon/kernel/errors.ts'
import { type Exit, Failure } from './command.ts'
import { paint, printable } from './output.ts'
import type { Terminal } from './terminal.ts'

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
export function report(terminal: Terminal, error: unknown): Exit {
  terminal.progress('')
  if (isRefused(error)) {
    const { title, exit } = errorTable[error.code]
    complain(terminal, `${title}: ${error.message}`, error.errors, remedies[error.code])
    return exit
  }
  if (error instanceof Failure || isObjection(error)) {
    complain(terminal, error.message, [], error.remedy)
    return error.exit
  }
  if (error instanceof Error && error.name === 'Locked') {
    complain(
      terminal,
      error.message,
      [],
      'name the file that holds it: --passphrase-file, or identity.keys_passphrase_file',
    )
    return 3
  }
  if (hasProblems(error)) {
    const isRefusal = error.name === 'StartRefused'
    const what = isRefusal ? 'the site may not run like this' : 'the profile cannot be used'
    complain(terminal, what, error.problems, isRefusal ? undefined : '`platform profile schema` shows what is allowed')
    return isRefusal ? 3 : 1
  }
  const closed = closedPath(error)
  if (closed !== undefined) {
    complain(terminal, `this user may not open ${closed}`, [], 'run it as the user to whom it belongs, or as root')
    return 3
  }
  complain(terminal, error instanceof Error ? error.message : String(error), [], undefined)
  if (terminal.env.PLATFORM_DEBUG && error instanceof Error) terminal.note(error.stack ?? '')
  return 1
}

function complain(
  terminal: Terminal,
  message: string,
  errors: readonly { path: string; message: string }[],
  remedy: string | undefined,
): void {
  terminal.note(`${paint(terminal, 'red', 'error:')} ${printable(message)}`)
  for (const { path, message: fault } of errors) terminal.note(printable(path ? `  ${path}: ${fault}` : `  ${fault}`))
  if (remedy) terminal.note(`  ${remedy}`)
}

/** By name: the classes of these two live in boot, which must not be loaded just to fail. */
function isObjection(error: unknown): error is Error & { exit: Exit; remedy: string | undefined } {
  return error instanceof Error && error.name === 'Objection' && 'exit' in error
}

/** What the system has refused to open. */
function closedPath(error: unknown): string | undefined {
  const { code, path } = error instanceof Error ? (error as NodeJS.ErrnoException) : {}
  return code === 'EACCES' ? path : undefined
}

function hasProblems(error: unknown): error is Error & { problems: readonly { path: string; message: string }[] } {
  return error instanceof Error && /^(ProfileError|StartRefused)$/.test(error.name) && 'problems' in error
}
