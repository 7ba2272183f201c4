// Estimates the memory that a value of plain JSON takes, without making a text of it.

/** Of a value, and of a member or an item of an object or list. */
const value_bytes = 8

export function estimateBytes(value: unknown): number {
  if (typeof value === 'string') return value_bytes + value.length
  if (typeof value !== 'object' || value === null) return value_bytes
  let bytes = value_bytes
  if (Array.isArray(value)) for (const item of value) bytes += estimateBytes(item)
  // Names of members are texts of their own in objects with few of a kind.
  else for (const name in value) bytes += name.length + estimateBytes((value as Record<string, unknown>)[name])
  return bytes
}
