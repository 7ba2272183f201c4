// Recognises secrets: by the name of a field, and by the look of a text. What callers and services have written may hold some.

export const redacted_text = '[redacted]'

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
