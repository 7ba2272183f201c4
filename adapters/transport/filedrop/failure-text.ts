// Describes an error for operators, without the path that the system error names.

export function describeFailure(error: unknown): string {
  if (!(error instanceof Error)) return 'a value that is not an Error was thrown'
  const { code, syscall, message } = error as NodeJS.ErrnoException
  return typeof code === 'string' && typeof syscall === 'string' ? `${code} at ${syscall}` : message
}
