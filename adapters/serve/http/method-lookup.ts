// Distinguishes an unknown path (404) from one that other methods serve (405).
import { listPaths, type ServedRoute } from '../../../daemon/kernel/operation/operation.ts'

/**
 * Lists the methods that serve a path; empty for an unknown path. A path that is declared without parameters has its own methods
 * alone, as its document says. Called only when no route fits.
 */
export function methodLookup(operations: readonly ServedRoute[]): (path: string) => readonly string[] {
  const patterns = operations.flatMap(({ operation }) =>
    listPaths(operation).map((declared) => ({ declared, shape: pathPattern(declared), method: operation.method })),
  )
  const fixed = new Set(patterns.map(({ declared }) => declared).filter((declared) => !declared.includes('{')))
  return (path) => {
    const methods = new Set<string>()
    for (const { declared, shape, method } of patterns) {
      if (fixed.has(path) ? declared !== path : !shape.test(path)) continue
      methods.add(method)
      if (method === 'GET') methods.add('HEAD')
    }
    return [...methods].sort()
  }
}

/** Whether any of the operations has the path. One expression: every request that is forwarded passes it. */
export function pathLookup(operations: readonly ServedRoute[]): (path: string) => boolean {
  // The router matches a parameter without a character, too.
  const shapes = operations.flatMap(({ operation }) => listPaths(operation).map((path) => pathSource(path, '[^/]*')))
  const any = new RegExp(`^(?:${[...new Set(shapes)].join('|')})$`)
  return (path) => any.test(path)
}

/**
 * The path of a target as the router reads it: without query, fragment and host, with its letters decoded. Undefined for one
 * that is not a path, or cannot be decoded.
 */
export function readRoutedPath(target: string): string | undefined {
  const path = target.startsWith('/') ? target : target.replace(/^[^/?#]*:\/\/[^/?#]*/, '')
  if (!path.startsWith('/')) return undefined
  const end = path.search(/[?#]/)
  try {
    return decodeURI(end < 0 ? path : path.slice(0, end))
  } catch {
    return undefined
  }
}

/** The path in the router's own notation: `{id}` as `:id`, and a colon that is meant as one doubled. */
export function toRouterPath(path: string): string {
  return path.replaceAll(':', '::').replaceAll(/\{([a-z_]+)\}/g, ':$1')
}

const pathPattern = (path: string) => new RegExp(`^${pathSource(path, '[^/]+')}$`)

function pathSource(path: string, parameter: string): string {
  const literal = path.replaceAll(/[.*+?^$()|[\]\\]/g, '\\$&')
  return literal.replaceAll(/\{[a-z_]+\}/g, parameter)
}
