// YAML text to plain data, strictly: no duplicate keys, no aliases, and each fault with its line.
import { parseDocument } from 'yaml'

export type YamlParseResult = { readonly value: unknown } | { readonly faults: readonly string[] }

export function parseYaml(text: string): YamlParseResult {
  const document = parseDocument(text, { uniqueKeys: true, strict: true })
  if (document.errors.length > 0)
    return { faults: document.errors.map((error) => error.message.split('\n')[0] ?? 'malformed') }
  try {
    return { value: document.toJS({ maxAliasCount: 0 }) }
  } catch {
    return { faults: ['aliases are not allowed'] }
  }
}
