// Methods and targets that are forwarded: those that every server reads alike.

/** In capitals: a server that takes `get` for GET may skip its body, and then reads the body as a request. */
const methodPattern = /^[A-Z][A-Z-]{0,31}$/
/** The answer to CONNECT would be a tunnel, and that to TRACE would show the headers that a role adds. */
const refusedMethods: ReadonlySet<string> = new Set(['CONNECT', 'TRACE'])
/** Path and query of printable ASCII. Without a fragment, which some servers cut off. */
const pathPattern = /^\/[!"$-~]*$/

/** Why a method is not forwarded; undefined for one that is. */
export function findMethodFault(method: string): 'unknown' | 'refused' | undefined {
  if (!methodPattern.test(method)) return 'unknown'
  return refusedMethods.has(method) ? 'refused' : undefined
}

export const isForwardedPath = (path: string): boolean => pathPattern.test(path)
