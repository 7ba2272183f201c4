// Reads the lists of OTEL_* variables: `name=value,name=value`, values URL-encoded.

/** Undefined when a member is not of this form. A name that comes twice is the later one. */
export function parseNameValues(list: string): Record<string, string> | undefined {
  const found: Record<string, string> = {}
  for (const member of list.split(',').filter((each) => each.trim() !== '')) {
    const [, name, encoded = ''] = /^\s*([!-+\--<>-~]+)\s*=([^,]*)$/.exec(member) ?? []
    const value = decodeValue(encoded.trim())
    if (name === undefined || value === undefined || name === '__proto__') return undefined
    found[name] = value
  }
  return found
}

function decodeValue(text: string): string | undefined {
  try {
    return decodeURIComponent(text)
  } catch {
    return undefined
  }
}
