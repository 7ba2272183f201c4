// Takes secrets out of log fields: by the name of a field at any depth, and by the look of a text anywhere.

const redacted_text = '[redacted]'

const max_depth = 8

/** Names whose values are never written; `d` and `k` are the private members of a JWK. */
const secretNames: ReadonlySet<string> = new Set(
  `authorization proxy-authorization cookie set-cookie token bearer secret password passwd pwd passphrase private credential
  credentials d k jwt assertion client_assertion access_key account_key api_key apikey x-api-key private_key signing_key
  connection_string`.split(/\s+/),
)
const secretNameEndings = /[_.-](token|secret|password|passphrase|private_key|api_key|access_key|credentials?)$/

/** Names of fields are few and short, but those of maps may be of callers. */
const max_known_names = 1_000
const max_known_length = 64
const knownNames = new Map<string, boolean>()

export function isSecretName(name: string): boolean {
  const known = knownNames.get(name)
  if (known !== undefined) return known
  const isSecret = matchSecretName(name)
  if (knownNames.size < max_known_names && name.length <= max_known_length) knownNames.set(name, isSecret)
  return isSecret
}

/** Camel case is read as snake case, so that `clientSecret` is one name with `client_secret`. */
function matchSecretName(name: string): boolean {
  const plain = name.replaceAll(/([a-z])([A-Z])/g, '$1_$2').toLowerCase()
  return secretNames.has(plain) || secretNameEndings.test(plain)
}

/**
 * Shapes of secrets in running text, each with what stays of it. Callers can choose the text: no part that may begin at
 * many places of a long word has more than a bounded length before what makes it a secret.
 */
const secretPatterns: readonly (readonly [RegExp, string])[] = [
  [/-----BEGIN [A-Z ]*PRIVATE KEY-----[\s\S]*?(-----END [A-Z ]*PRIVATE KEY-----|$)/g, redacted_text],
  [/(?<![A-Za-z0-9_-])eyJ[A-Za-z0-9_-]{5,}(\.[A-Za-z0-9_-]*){1,4}/g, redacted_text],
  [/\b(bearer|basic)\s+[A-Za-z0-9._~+/-]{6,}=*/gi, `$1 ${redacted_text}`],
  [/(\b[a-z][a-z0-9+.-]{0,30}:\/\/[^\s/:@]*):[^\s/@]+@/gi, `$1:${redacted_text}@`],
  [
    /(\b(?:[a-z]+[_.-]){0,8}(?:token|secret|password|passwd|pwd|passphrase|assertion|private_key|api_key|(?:access|account)_?key)["']?\s*[=:]\s*)("(?:[^"\\]|\\.)*"|'[^']*'|[^\s"'&,;}\]]+)/gi,
    `$1${redacted_text}`,
  ],
  [/([?&](?:[a-z]+-){0,8}(?:sig|signature|credential)=)[^\s"'&]+/gi, `$1${redacted_text}`],
]

/** One test before the replacements: most texts hold nothing of the kind. */
const anySecretPattern =
  /-----BEGIN|eyJ|bearer|basic|:\/\/|token|secret|passw|pwd|passphrase|assertion|private_key|api_key|(access|account)_?key/i

export function redactText(text: string): string {
  if (!anySecretPattern.test(text)) return text
  return secretPatterns.reduce((rest, [shape, instead]) => rest.replace(shape, instead), text)
}

/** A copy that is safe to write: secrets taken out, errors as plain fields, cycles and depths cut. Never throws. */
export function redactFields(fields: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return redactValue(fields, []) as Record<string, unknown>
}

function redactValue(value: unknown, above: readonly object[]): unknown {
  if (typeof value === 'string') return redactText(value)
  if (typeof value === 'bigint') return String(value)
  if (typeof value === 'function' || typeof value === 'symbol') return undefined
  if (typeof value !== 'object' || value === null) return value
  if (above.includes(value) || above.length >= max_depth) return '[cut]'
  if (value instanceof Uint8Array) return `[${value.length} bytes]`
  if (value instanceof Date) return Number.isNaN(value.getTime()) ? 'Invalid Date' : value.toISOString()
  const inside = [...above, value]
  if (Array.isArray(value)) return value.map((item) => redactValue(item, inside))
  if (value instanceof Map) return redactValue(Object.fromEntries([...value].map(withTextKey)), inside)
  if (value instanceof Set) return redactValue([...value], inside)
  return redactMembers(value, inside)
}

/** A key of a map can be any value, also an object that has no text. */
function withTextKey([key, value]: [unknown, unknown]): [string, unknown] {
  try {
    return [String(key), value]
  } catch {
    return ['[unreadable]', value]
  }
}

function redactMembers(value: object, inside: readonly object[]): Record<string, unknown> {
  const copy: Record<string, unknown> = {}
  if (value instanceof Error) {
    copy.name = value.name
    copy.message = redactText(value.message)
    copy.stack = redactText(value.stack ?? '')
    if (value.cause !== undefined) copy.cause = redactValue(value.cause, inside)
  }
  for (const name of Object.keys(value)) {
    copy[name] = isSecretName(name) ? redacted_text : redactValue(readMember(value, name), inside)
  }
  return copy
}

function readMember(from: object, name: string): unknown {
  try {
    return Reflect.get(from, name)
  } catch {
    return '[unreadable]'
  }
}
