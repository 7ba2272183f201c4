// Warnings before a flight: what operators of an effect need and the site does not have. They block nothing.
import { listConnections, listUnknownOperators } from './assemble.ts'
import type { EffectOperator } from './model.ts'

/** `announced`: connections that the author expects the operators to use. */
export function listWarnings(operators: readonly EffectOperator[], announced: readonly string[]): string[] {
  const used = listConnections(operators)
  // The site has no connections yet: each that is named is missing.
  const missing = used.map((id) => `the site has no connection ${id}`)
  const unused = [...new Set(announced)].filter((id) => !used.includes(id))
  return [
    ...missing,
    ...unused.map((id) => `no operator uses the connection ${id}`),
    ...listUnknownOperators(operators).map(({ path, message }) => `${path}: ${message}`),
  ]
}
