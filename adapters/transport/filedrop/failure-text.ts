// An accident in words that an operator may see: what the system said, without the path that it said it of.

export function describeFailure(error: unknown): string {
  if (!(error instanceof Error)) return 'something was thrown that is no error'
  const { code, syscall, message } = error as NodeJS.ErrnoException
  return typeof code === 'string' && typeof syscall === 'string' ? `${code} at ${syscall}` : message
}
