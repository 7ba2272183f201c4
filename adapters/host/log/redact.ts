// Takes secrets out of log fields: by the name of a field at any depth, and by the look of a text anywhere.

export const redacted = '[redacted]'

const depth_max = 8

/** Names whose values are never written; `d` and `k` are the private members of a JWK. */
const names: ReadonlySet<string> = new Set(
  `authorization proxy-authorization cookie set-cookie token bearer secret password passwd passphrase private credential
  credentials d k jwt assertion client_assertion access_key api_key apikey x-api-key private_key signing_key`.split(
    /\s+/,
  ),
)
const endings = /[_-](token|secret|password|passphrase|private_key|api_key|credentials?)$/

/** Camel case is read as snake case, so that `clientSecret` is one name with `client_secret`. */
export function isSecretName(name: string): boolean {
  const plain = name.replaceAll(/([a-z])([A-Z])/g, '$1_$2').toLowerCase()
  return names.has(plain) || endings.test(plain)
}

/** Shapes of secrets in running text, each with what stays of it. */
const shapes: readonly (readonly [RegExp, string])[] = [
  [/-----BEGIN [A-Z ]*PRIVATE KEY-----[\s\S]*?(-----END [A-Z ]*PRIVATE KEY-----|$)/g, redacted],
  [/\beyJ[A-Za-z0-9_-]{5,}(\.[A-Za-z0-9_-]*){1,4}/g, redacted],
  [/\b(bearer|basic)\s+[A-Za-z0-9._~+/-]{6,}=*/gi, `$1 ${redacted}`],
  [/(\b[a-z][a-z0-9+.-]*:\/\/[^\s/:@]*):[^\s/@]+@/gi, `$1:${redacted}@`],
  [
    /(\b(?:[a-z]+[_-])*(?:token|secret|password|passphrase|assertion|private_key|api_key)["']?\s*[=:]\s*)("[^"]*"|'[^']*'|[^\s"'&,;}\]]+)/gi,
    `$1${redacted}`,
  ],
]

/** One test before five replacements: most texts hold nothing of the kind. */
const anyShape = /-----BEGIN|eyJ|bearer|basic|:\/\/|token|secret|passw|passphrase|assertion|private_key|api_key/i

export function redactText(text: string): string {
  if (!anyShape.test(text)) return text
  return shapes.reduce((rest, [shape, instead]) => rest.replace(shape, instead), text)
}

/** A copy that is safe to write: secrets taken out, errors as plain fields, cycles and depths cut. Never throws. */
export function redactFields(fields: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return copyOf(fields, []) as Record<string, unknown>
}

function copyOf(value: unknown, above: readonly object[]): unknown {
  if (typeof value === 'string') return redactText(value)
  if (typeof value === 'bigint') return String(value)
  if (typeof value === 'function' || typeof value === 'symbol') return undefined
  if (typeof value !== 'object' || value === null) return value
  if (above.includes(value) || above.length >= depth_max) return '[cut]'
  if (value instanceof Uint8Array) return `[${value.length} bytes]`
  if (value instanceof Date) return Number.isNaN(value.getTime()) ? 'Invalid Date' : value.toISOString()
  const inside = [...above, value]
  if (Array.isArray(value)) return value.map((item) => copyOf(item, inside))
  if (value instanceof Map) return copyOf(Object.fromEntries(value), inside)
  if (value instanceof Set) return copyOf([...value], inside)
  return membersOf(value, inside)
}

function membersOf(value: object, inside: readonly object[]): Record<string, unknown> {
  const copy: Record<string, unknown> = {}
  if (value instanceof Error) {
    copy.name = value.name
    copy.message = redactText(value.message)
    copy.stack = redactText(value.stack ?? '')
    if (value.cause !== undefined) copy.cause = copyOf(value.cause, inside)
  }
  for (const name of Object.keys(value)) {
    copy[name] = isSecretName(name) ? redacted : copyOf(read(value, name), inside)
  }
  return copy
}

function read(from: object, name: string): unknown {
  try {
    return Reflect.get(from, name)
  } catch {
    return '[unreadable]'
  }
}
