// The normal form of a path: it alone is matched, keys the cache and is forwarded. An ambiguous path has no normal form.

/** Why a target has no normal form. */
export type TargetFault =
  | 'path_character'
  | 'bad_escape'
  | 'control_escape'
  | 'encoded_slash'
  | 'backslash'
  | 'double_encoding'
  | 'bad_utf8'
  | 'lookalike'
  | 'dot_id'
  | 'dot_parameter'
  | 'above_root'
  | 'query_character'
  | 'fragment'

/** `query`: as received, with its question mark; '' for none. */
export type NormalTarget = { readonly path: string; readonly query: string }
export type TargetRefusal = { readonly denied: TargetFault }

// Classes of bytes in a path: plain, needs the slow path, ends the path, or not allowed.
const plain = 0
const needs_normalising = 1
const ends_path = 2
const forbidden = 3

const byteKinds = buildByteKinds()

/**
 * Normal form of the target from `from` on, where a slash stands (RFC 3986 section 6.2.2): escapes of unreserved
 * characters decoded, hexadecimal digits in capitals, `//` collapsed, dot segments resolved. The query is left as it is.
 * A fixed point: the normal form of a normal form is itself.
 */
export function normaliseTarget(target: string, from: number): NormalTarget | TargetRefusal {
  let at = from
  let isPlain = true
  let before = 0
  for (; at < target.length; at++) {
    const code = target.charCodeAt(at)
    const kind = code < 128 ? byteKinds[code] : forbidden
    // A dot at the start of a segment and a repeated slash need the slow path, as escapes and `;` do.
    if (kind === plain) isPlain &&= before !== 47 || (code !== 46 && code !== 47)
    else if (kind === needs_normalising) isPlain = false
    else if (kind === ends_path) break
    else return { denied: code === 92 ? 'backslash' : 'path_character' }
    before = code
  }
  const fault = at < target.length ? findQueryFault(target, at) : undefined
  if (fault) return { denied: fault }
  const path = isPlain ? target.slice(from, at) : normalisePath(target.slice(from, at))
  return typeof path === 'string' ? { path, query: target.slice(at) } : path
}

/** The fault of query or fragment. The query is forwarded verbatim, so every server must read it the same way. */
function findQueryFault(target: string, from: number): TargetFault | undefined {
  for (let at = from; at < target.length; at++) {
    const code = target.charCodeAt(at)
    if (code === 35) return 'fragment'
    if (code <= 32 || code >= 127) return 'query_character'
  }
  return undefined
}

/** The slow path: decodes escapes, then resolves segments. */
function normalisePath(raw: string): string | TargetRefusal {
  const unescaped = raw.includes('%') ? decodeEscapes(raw) : raw
  return typeof unescaped === 'string' ? resolveDotSegments(unescaped) : unescaped
}

function decodeEscapes(raw: string): string | TargetRefusal {
  const fault = findEscapeFault(raw)
  if (fault) return { denied: fault }
  const text = raw.replaceAll(/%[0-9A-Fa-f]{2}/g, (escaped) => {
    const character = String.fromCharCode(Number.parseInt(escaped.slice(1), 16))
    return /[A-Za-z0-9._~-]/.test(character) ? character : escaped.toUpperCase()
  })
  // Checked last: a digit of the second escape may itself have been escaped.
  return /%25(?:[0-9A-Fa-f]{2}|[uU][0-9A-Fa-f])/.test(text) ? { denied: 'double_encoding' } : text
}

function findEscapeFault(raw: string): TargetFault | undefined {
  if (/%(?![0-9A-Fa-f]{2})/.test(raw)) return 'bad_escape'
  if (/%(?:[01][0-9A-Fa-f]|7[Ff])/.test(raw)) return 'control_escape'
  if (/%2[Ff]/.test(raw)) return 'encoded_slash'
  if (/%5[Cc]/.test(raw)) return 'backslash'
  return /%[89A-Fa-f]/.test(raw) ? findUnicodeFault(raw) : undefined
}

/** Characters that some servers turn into a slash or backslash although Unicode normalisation does not. */
const slashLookalikes = /[\u2044\u2215\u2216\u29f5\u29f8\u29f9]/
/** Controls, formats, separators of lines and paragraphs, and code points without a character. */
const invisibleCharacters = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cn}]/u
const delimiters = /[/\\.%;?#]/

function findUnicodeFault(raw: string): TargetFault | undefined {
  let text: string
  try {
    text = decodeURIComponent(raw)
  } catch {
    return 'bad_utf8'
  }
  const nonAscii = text.replaceAll(/[\0-\x7f]/g, '')
  if (invisibleCharacters.test(nonAscii)) return 'control_escape'
  return slashLookalikes.test(nonAscii) || delimiters.test(nonAscii.normalize('NFKC')) ? 'lookalike' : undefined
}

/** RFC 3986 section 5.2.4, except that a path above the root and a trailing dot segment are refused. */
function resolveDotSegments(path: string): string | TargetRefusal {
  const segments = path.split('/').slice(1)
  const last = segments.length - 1
  const resolved: string[] = []
  for (const [at, segment] of segments.entries()) {
    if (segment === '.' || segment === '..') {
      if (at === last) return { denied: 'dot_id' }
      if (segment === '..' && resolved.pop() === undefined) return { denied: 'above_root' }
    } else if (isDisguised(segment)) return { denied: 'dot_parameter' }
    else if (segment !== '' || at === last) resolved.push(segment)
  }
  return `/${resolved.join('/')}`
}

/** Whether servers that support `;` parameters or drop spaces would read the segment as empty, `.` or `..`. */
function isDisguised(segment: string): boolean {
  if (!segment.includes(';') && !segment.includes('%')) return false
  const [name = ''] = segment.replaceAll('%20', '').split(/;|%3B/, 1)
  return name === '' || name === '.' || name === '..'
}

function buildByteKinds(): Uint8Array {
  const table = new Uint8Array(128).fill(forbidden)
  const mark = (characters: string, kind: number) => {
    for (const character of characters) table[character.charCodeAt(0)] = kind
  }
  mark('abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789', plain)
  // RFC 3986: unreserved, sub-delims, and the two that `pchar` adds.
  mark('-._~' + "!$&'()*+,=" + ':@' + '/', plain)
  mark('%;', needs_normalising)
  mark('?#', ends_path)
  return table
}
