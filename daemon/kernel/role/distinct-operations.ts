// Checks that the operations of a role have paths and tools of their own.
import { type AddressedOperation, listPaths } from '../operation/operation.ts'

/** Throws where two operations have one path or one tool: the second would hide the first, or be hidden by it. */
export function requireDistinctOperations(operations: readonly AddressedOperation[]): void {
  const addresses = new Map<string, string>()
  for (const { address, operation } of operations) {
    const routes = listPaths(operation).map((path) => `${operation.method} ${path.replaceAll(/\{[^}]*\}/g, '{}')}`)
    const names = operation.tool === undefined ? routes : [...routes, `the tool ${operation.tool}`]
    for (const name of names) {
      const other = addresses.get(name)
      if (other !== undefined) throw new TypeError(`${address} and ${other} are both served as ${name}`)
      addresses.set(name, address)
    }
  }
}
